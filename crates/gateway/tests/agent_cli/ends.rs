//! Turns that do not end well, and commands that never begin one.
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::place::{Ended, Place};
use super::provider::{Provider, Reply};

/// A place without a provider, or with one that cannot be used.
fn place(config: Value) -> Place {
    Place::new(&config)
}

fn told(ended: &Ended) -> (i32, &str, &str) {
    (ended.code, &ended.stdout, &ended.stderr)
}

#[test]
fn wrong_usage_is_told_apart() {
    let place = place(json!({}));
    let long = "a".repeat(201);
    for arguments in [
        &["agent"] as &[&str],
        &["agent", ""],
        &["agent", " \n"],
        &["agent", "-"],
        &["agent", "hi", "there"],
        &["agent", "hi", "--session", ""],
        &["agent", "hi", "--session", "a\nb"],
        &["agent", "hi", "--session", &long],
        &["agent", "hi", "--unknown"],
    ] {
        let ended = place.run(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (64, ""), "{arguments:?}");
        assert!(ended.stderr.starts_with("error: "), "{ended:?}");
    }
}

#[test]
fn what_is_missing_in_the_configuration_is_named() {
    let provider = json!({ "providers": { "p": { "baseUrl": "http://127.0.0.1:9/v1", "models": ["m"] } } });
    let keyless =
        json!({ "providers": { "p": { "baseUrl": "http://127.0.0.1:9/v1", "apiKey": "${NO_SUCH}" } } });
    for (config, more, message) in [
        (
            json!({}),
            &[] as &[&str],
            "agent `main` has no model: set `agents.entries.main.model` or `agents.defaults.model` to \
             `PROVIDER/MODEL`, and the provider under `models.providers`",
        ),
        (
            json!({ "models": provider }),
            &["--model", "p/x"],
            "provider `p` has no model `x`; configured are m",
        ),
        (
            json!({ "models": provider }),
            &["--model", "x"],
            "`x` names no model: write `provider/model`",
        ),
        (
            json!({ "models": provider }),
            &["--agent", "other"],
            "no agent is named `other`; configured are main",
        ),
        (
            json!({ "models": keyless }),
            &["--model", "p/x"],
            "provider `p` cannot be used: ",
        ),
    ] {
        let place = place(config);
        let ended = place.run(&[&["agent", "hi"], more].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
        assert!(ended.stderr.contains(&format!("error: {message}")), "{ended:?}");
        let ended = place.run(&[&["agent", "hi", "--json"], more].concat());
        assert_eq!(ended.code, 1);
        let error = &ended.json()["error"]["message"];
        assert!(error.as_str().unwrap().starts_with(message), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_the_provider_can_be_read() {
    for (reply, stdout, message) in [
        (
            Reply::Status(401, json!({ "error": { "message": "bad \u{1b}[31mkey" } })),
            "",
            "error: the provider answered 401: bad \\u{1b}[31mkey (attempts: 1)\n",
        ),
        (
            Reply::Cut("Half an"),
            "Half an\n",
            "error: the answer broke off: the stream ended before the answer did\n",
        ),
    ] {
        let provider = Provider::start([reply]).await;
        let ended = place(provider.config(json!({}))).run(&["agent", "hi", "--quiet"]);
        assert_eq!(told(&ended), (1, stdout, message));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_reaches_its_limit_is_not_done() {
    let provider = Provider::start([Reply::Call("nothing", json!({})), Reply::Text(vec!["Unheard."])]).await;
    let defaults = json!({ "model": "fake/small", "maxRounds": 1 });
    let place = place(provider.config(json!({ "agents": { "defaults": defaults } })));
    let ended = place.run(&["agent", "hi", "--quiet"]);
    let message = "error: the turn reached its limit of rounds (1): raise `maxRounds` to allow more\n";
    assert_eq!(told(&ended), (1, "", message));
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_the_turn_and_keeps_what_was_said() {
    let provider = Provider::start([Reply::Held("Well", ", no."), Reply::Text(vec!["Again."])]).await;
    let place = place(provider.config(json!({})));
    let mut child = place
        .command(&["agent", "hi", "--json", "--session", "s"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    provider.asked(1).await;
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let code = child.wait().unwrap().code();
    let mut stdout = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut stdout).unwrap();
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (code, &told["ok"], &told["stop"], &told["error"]["message"]),
        (Some(130), &json!(false), &json!("aborted"), &json!("interrupted"))
    );
    // Nothing of it stands in the way of the next turn.
    let ended = place.run(&["agent", "and?", "--session", "s", "--quiet"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Again.\n"));
}
