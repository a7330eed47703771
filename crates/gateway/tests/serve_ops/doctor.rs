//! What `codecell doctor` says of providers, agents and where they are served.
use serde_json::json;

use super::place::{Ended, Place};

/// The parts of the report that are about agent turns.
fn about_turns(ended: &Ended) -> serde_json::Value {
    let report = ended.json();
    json!([
        report["ok"],
        report["providers"],
        report["agents"],
        report["serve"]
    ])
}

#[test]
fn doctor_says_which_agents_can_take_turns() {
    let config = json!({
        "models": { "providers": {
            "sound": { "api": "anthropic-messages", "models": ["small", { "id": "big" }] },
            "any": { "baseUrl": "http://127.0.0.1:9/v1" },
            "keyless": { "api": "openai-responses", "apiKey": "${CODECELL_NO_SUCH_KEY}" },
        } },
        "agents": {
            "defaults": { "model": "sound/small" },
            "entries": {
                "main": {}, "lost": { "model": "sound/large" }, "locked": { "model": "keyless/x" },
                "coder": { "model": "any/thing", "tools": { "codeMode": true } },
            },
        },
        "serve": { "listen": "0.0.0.0:4860" },
    });
    let place = Place::new(&config);
    let reported = place.run(&["doctor", "--json"]);
    let unset = "models.providers.keyless.apiKey: environment variable `CODECELL_NO_SUCH_KEY` is not set: set it, or \
                 write `${CODECELL_NO_SUCH_KEY:-default}`";
    let open = "other machines can reach this address, so `codecell serve` starts only with a token: set \
                `serve.token` or CODECELL_TOKEN, or give --token-file";
    let expected = json!([
        false,
        [
            { "id": "sound", "api": "anthropic-messages", "models": ["small", "big"] },
            { "id": "any", "api": "openai-completions", "models": [] },
            { "id": "keyless", "models": [], "reason": unset },
        ],
        [
            { "id": "coder", "model": "any/thing", "codeMode": true },
            {
                "id": "locked", "codeMode": false,
                "reason": format!("provider `keyless` cannot be used: {unset}"),
            },
            {
                "id": "lost", "codeMode": false,
                "reason": "provider `sound` has no model `large`; configured are small, big",
            },
            { "id": "main", "model": "sound/small", "codeMode": false },
        ],
        { "listen": "0.0.0.0:4860", "reason": open },
    ]);
    assert_eq!(about_turns(&reported), expected);
    let mut command = place.command(&["doctor", "--json"]);
    command.env("CODECELL_TOKEN", "t");
    let output = command.output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        report["serve"],
        json!({ "listen": "0.0.0.0:4860", "token": "CODECELL_TOKEN" })
    );
}

#[test]
fn doctor_says_nothing_of_turns_where_only_servers_are_configured() {
    let ended = Place::new(&json!({})).run(&["doctor", "--json"]);
    assert_eq!(about_turns(&ended), json!([true, null, null, null]));
    let text = Place::new(&json!({})).run(&["doctor"]).stdout;
    assert!(!text.contains("Model providers"), "{text}");
}
