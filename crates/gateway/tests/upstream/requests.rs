//! Calls: exactness, limits, time, cancellation.
use std::time::Duration;

use codecell_gateway::upstream::{CallError, CallOptions, UpstreamOptions};
use serde_json::{json, value::RawValue};
use tokio_util::sync::CancellationToken;

use crate::support::*;

#[tokio::test]
async fn numbers_of_any_size_pass_unchanged_in_both_directions() {
    for era in ["legacy", "modern"] {
        let stage = Stage::new(json!({ "era": era }));
        let upstreams = settled(vec![stage.server("fake")], options()).await;
        let arguments = r#"{"n":123456789012345678901234567890,"i":9007199254740993,"f":1.10,"t":"ü\u0000"}"#;
        let result = call(&upstreams, "echo", arguments).await.unwrap();
        assert_eq!(
            result,
            format!(r#"{{"content":[],"structuredContent":{arguments}}}"#),
            "{era}"
        );
        upstreams.shutdown().await;
    }
}

#[tokio::test]
async fn an_answer_of_twenty_megabytes_arrives() {
    let stage = Stage::new(json!({}));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let result = call(&upstreams, "big", r#"{"bytes":20971520}"#).await.unwrap();
    assert!(result.len() > 20 << 20);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn an_answer_over_the_limit_fails_its_own_call_only() {
    let stage = Stage::new(json!({}));
    let options = UpstreamOptions {
        max_message_bytes: 100_000,
        ..options()
    };
    let upstreams = settled(vec![stage.server("fake")], options).await;
    let (slow, big) = tokio::join!(
        call(&upstreams, "sleep", r#"{"ms":300}"#),
        call(&upstreams, "big", r#"{"bytes":200000}"#)
    );
    slow.unwrap();
    assert_eq!(
        big.unwrap_err().to_string(),
        "the answer for `tools/call` of MCP server `fake` has 200073 bytes, at most 100000 are taken"
    );
    call(&upstreams, "echo", "{}").await.unwrap();
    assert_eq!(stage.count("start"), 1, "the connection is fine");
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_request_over_the_limit_is_refused_before_it_is_sent() {
    let stage = Stage::new(json!({}));
    let options = UpstreamOptions {
        max_message_bytes: 100_000,
        ..options()
    };
    let upstreams = settled(vec![stage.server("fake")], options).await;
    let error = call(
        &upstreams,
        "echo",
        &format!(r#"{{"x":"{}"}}"#, "y".repeat(200_000)),
    )
    .await
    .unwrap_err();
    assert!(
        matches!(error, CallError::TooLarge { limit: 100_000, .. }) && !error.in_doubt(),
        "{error}"
    );
    assert_eq!(stage.count("call"), 0);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn cancelling_and_dropping_both_reach_the_server() {
    let stage = Stage::new(json!({}));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let cancel = CancellationToken::new();
    let options = CallOptions {
        cancel: cancel.clone(),
        ..CallOptions::default()
    };
    let cancelled = call_with(&upstreams, "sleep", r#"{"ms":100000}"#, options);
    let stop = async {
        eventually("the call", || stage.count("call") == 1).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(cancelled, stop);
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "`tools/call` to MCP server `fake` was cancelled"
    );
    eventually("the first cancellation", || stage.count("cancelled") == 1).await;

    tokio::select! {
        _ = call(&upstreams, "sleep", r#"{"ms":100000}"#) => panic!("ended"),
        () = eventually("the second call", || stage.count("call") == 2) => {}
    }
    eventually("the second cancellation", || stage.count("cancelled") == 2).await;
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_call_past_its_limit_is_given_up_and_cancelled() {
    let stage = Stage::new(json!({}));
    let mut server = stage.server("fake");
    server.request_timeout = Duration::from_millis(1500);
    let upstreams = settled(vec![server], options()).await;
    let error = call(&upstreams, "sleep", r#"{"ms":100000}"#).await.unwrap_err();
    assert!(error.in_doubt());
    assert_eq!(
        error.to_string(),
        "MCP server `fake` did not answer `tools/call` within 1500 ms; it was told to cancel"
    );
    eventually("the cancellation", || stage.count("cancelled") == 1).await;
    upstreams.shutdown().await;
}

#[tokio::test]
async fn progress_is_passed_on_and_prolongs_a_call() {
    let stage = Stage::new(json!({}));
    let mut server = stage.server("fake");
    server.request_timeout = Duration::from_millis(1500);
    let upstreams = settled(vec![server], options()).await;
    let (progress, seen) = collector();
    let options = CallOptions {
        progress: Some(progress),
        ..CallOptions::default()
    };
    call_with(&upstreams, "progress", r#"{"steps":6,"ms":400}"#, options)
        .await
        .unwrap();
    assert_eq!(*seen.lock().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn refusals_and_unknown_names_say_what_is_wrong() {
    let stage = Stage::new(json!({}));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let error = call(&upstreams, "nothing", "{}").await.unwrap_err();
    let CallError::Rpc { code, message, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(
        (*code, message.split(" for ").next()),
        (-32602, Some("no tool nothing"))
    );
    let none = RawValue::from_string("{}".into()).unwrap();
    let error = upstreams
        .call_tool("fak", "echo", &none, CallOptions::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no MCP server is named `fak`; known servers: `fake`"
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn other_methods_go_through_too() {
    let stage = Stage::new(json!({ "era": "modern" }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let result = upstreams
        .request("fake", "resources/list", None, CallOptions::default())
        .await
        .unwrap();
    assert_eq!(result.get(), r#"{"resources":[{"uri":"fake://a","name":"a"}]}"#);
    upstreams.shutdown().await;
}
