//! A policy that cannot be read starts nothing.
use serde_json::{Value, json};

use super::place::Place;

const COMPLAINT: &str =
    "error: codecell.json5: tools.deny: expected an array of strings, got a string `\"exec\"`";

fn unreadable() -> Place {
    Place::new(&json!({ "tools": { "deny": "exec", "fs": { "roots": ["files"] } } }))
}

#[test]
fn exec_fails_as_a_result_that_names_file_and_path() {
    let ended = unreadable().run(&["exec", "--code", "return 1"]);
    let result = ended.json();
    assert_eq!(
        (ended.code, &result["status"], &result["code"], &result["error"]),
        (
            1,
            &json!("failed"),
            &json!("invalid_input"),
            &json!(format!("the configuration cannot be used: {COMPLAINT}")),
        )
    );
}

#[test]
fn the_servers_and_listings_do_not_start_either() {
    let place = unreadable();
    for command in [&["mcp"][..], &["tools"], &["decls"], &["doctor"]] {
        let ended = place.run(command);
        let said = format!("codecell: {COMPLAINT}\nerror: the configuration cannot be used: {COMPLAINT}\n");
        assert_eq!(
            (ended.code, ended.stdout.as_str(), ended.stderr),
            (1, "", said),
            "{command:?}"
        );
    }
}

#[test]
fn doctor_reports_it_as_json() {
    let ended = unreadable().run(&["doctor", "--json"]);
    let problem = json!({
        "file": "codecell.json5",
        "path": "tools.deny",
        "severity": "error",
        "message": "expected an array of strings, got a string `\"exec\"`",
    });
    let expected = json!({
        "ok": false,
        "files": ["codecell.json5"],
        "problems": [problem],
        "error": format!("the configuration cannot be used: {COMPLAINT}"),
    });
    assert_eq!((ended.code, ended.json()), (1, expected));
}

#[test]
fn tools_that_cannot_be_had_as_configured_start_nothing() {
    for (tools, error) in [
        (
            json!({ "exec": true }),
            "tools: `exec` is enabled but there is no root folder to run commands in: configure one",
        ),
        (
            json!({ "fs": { "roots": ["no/such/folder"] } }),
            "tools: the root folder `no/such/folder` cannot be used: No such file or directory (os error 2)",
        ),
        (
            json!({ "web": { "fetch": { "enabled": true, "privateHosts": ["http://x"] } } }),
            "tools: `http://x` is no allowed host: give `name`, `name:port`, an address or `[address]:port`",
        ),
    ] {
        let result = Place::new(&json!({ "tools": tools })).exec("return 1");
        assert_eq!(result["code"], "invalid_input");
        assert!(result["error"].as_str().unwrap().starts_with(error), "{result}");
    }
}

#[test]
fn an_unknown_agent_is_answered_with_the_known_ones() {
    let place = Place::new(&json!({ "agents": { "entries": { "box": {} } } }));
    let message = "no agent is named `nobody`; configured are main, box";
    let result = place.run(&["exec", "--agent", "nobody", "--code", "return 1"]);
    assert_eq!((result.code, &result.json()["error"]), (1, &json!(message)));
    let ended = place.run(&["mcp", "--agent", "nobody"]);
    assert_eq!((ended.code, ended.stderr), (1, format!("error: {message}\n")));
    let known: Value = place
        .run(&["exec", "--agent", "box", "--code", "return 1"])
        .json();
    assert_eq!(known["value"], 1);
}
