//! Both generations of the protocol, and every way of refusing the probe.
use std::time::Duration;

use codecell_gateway::upstream::{Era, State, UpstreamOptions};
use serde_json::json;

use crate::support::*;

async fn check(scenario: serde_json::Value, patience_ms: u64, expected: Era, starts: usize) {
    let stage = Stage::new(scenario.clone());
    let options = UpstreamOptions {
        probe_patience: Duration::from_millis(patience_ms),
        ..options()
    };
    let upstreams = settled(vec![stage.server("fake")], options).await;
    let server = view(&upstreams, "fake");
    assert_eq!(
        (server.state, server.era),
        (State::Ready, Some(expected)),
        "{scenario}"
    );
    assert_eq!(
        call(&upstreams, "echo", r#"{"a":1}"#).await.unwrap(),
        r#"{"content":[],"structuredContent":{"a":1}}"#
    );
    assert_eq!(stage.count("start"), starts, "{scenario}");
    upstreams.shutdown().await;
}

#[tokio::test]
async fn servers_of_either_era_are_spoken_to_in_theirs() {
    check(json!({ "era": "legacy" }), 30_000, Era::Legacy, 1).await;
    check(json!({ "era": "modern" }), 30_000, Era::Modern, 1).await;
    check(json!({ "era": "dual" }), 30_000, Era::Modern, 1).await;
}

#[tokio::test]
async fn a_server_that_ignores_the_probe_is_greeted_the_old_way() {
    check(json!({ "era": "silent-probe" }), 50, Era::Legacy, 1).await;
}

#[tokio::test]
async fn a_server_that_breaks_over_the_probe_gets_a_fresh_process() {
    check(json!({ "era": "closes-on-probe" }), 30_000, Era::Legacy, 2).await;
    check(json!({ "era": "poisoned" }), 30_000, Era::Legacy, 2).await;
}

#[tokio::test]
async fn a_slow_start_loses_no_answer_and_confuses_nobody() {
    // Both greetings lie in the pipe before the server reads the first.
    check(json!({ "era": "legacy", "delay_ms": 400 }), 50, Era::Legacy, 1).await;
    check(json!({ "era": "modern", "delay_ms": 400 }), 50, Era::Modern, 1).await;
    check(json!({ "era": "dual", "delay_ms": 400 }), 50, Era::Legacy, 1).await;
}

#[tokio::test]
async fn questions_of_a_modern_server_are_declined_and_its_state_is_echoed() {
    let stage = Stage::new(json!({ "era": "modern" }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let result = call(&upstreams, "ask", "{}").await.unwrap();
    assert_eq!(
        result,
        r#"{"content":[],"structuredContent":{"answers":{"q":{"action":"decline"}},"state":"st\u0061te"}}"#
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn what_a_legacy_server_asks_is_answered() {
    let stage = Stage::new(json!({ "asks": true }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    eventually("both replies", || stage.count("reply") == 2).await;
    let replies: Vec<String> = stage
        .log()
        .into_iter()
        .filter(|line| line.starts_with("reply"))
        .collect();
    assert_eq!(
        replies,
        [
            "reply {}",
            r#"reply {"code":-32601,"message":"this client does not offer `roots/list`"}"#
        ]
    );
    upstreams.shutdown().await;
}
