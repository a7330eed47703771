//! The era with sessions.
use serde_json::json;

use super::client::{Client, Gateway, LEGACY};

const YIELDS: &str = "await yield_control('later'); return 7";

#[tokio::test(flavor = "multi_thread")]
async fn a_session_lists_executes_and_waits_at_every_revision_that_has_them() {
    let gateway = Gateway::plain().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY] {
        let client = Client::with_session(&gateway.server, version, json!({})).await;
        let list = client.request("tools/list", json!({})).await.result();
        let names: Vec<&str> = list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["exec", "wait"], "{version}");
        assert_eq!(list.get("ttlMs"), None, "{version}");
        let waiting = client.exec(YIELDS).await;
        assert_eq!(
            (&waiting["status"], &waiting["reason"]),
            (&json!("waiting"), &json!("yield"))
        );
        assert_eq!(client.wait(&waiting).await["value"], 7, "{version}");
        let code = "return (await MCP.fake.echo({ a: 1 })).structuredContent";
        assert_eq!(client.exec(code).await["value"], json!({ "a": 1 }), "{version}");
        assert_eq!(client.request("ping", json!({})).await.result(), json!({}));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_that_nobody_knows_becomes_one_that_both_know() {
    let gateway = Gateway::plain().await;
    let client = Client::new(&gateway.server);
    for asked in ["1999-01-01", "2026-07-28", "2077-07-07"] {
        let hello = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let answer = client.request("initialize", hello).await;
        assert_eq!(answer.result()["protocolVersion"], LEGACY, "{asked}");
        assert!(answer.headers.contains_key("mcp-session-id"), "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_is_resumed_by_its_own_session_only() {
    let gateway = Gateway::plain().await;
    let (one, other) = (
        Client::legacy(&gateway.server).await,
        Client::legacy(&gateway.server).await,
    );
    assert_ne!(one.session, other.session);
    let waiting = one.exec(YIELDS).await;
    let modern = Client::modern(&gateway.server);
    for stranger in [&other, &modern] {
        let refused = stranger.wait(&waiting).await;
        assert_eq!(
            (&refused["status"], &refused["code"]),
            (&json!("failed"), &json!("invalid_input"))
        );
    }
    assert_eq!(one.wait(&waiting).await["value"], 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_delete_and_what_it_began_ends_with_it() {
    let gateway = Gateway::plain().await;
    let client = Client::legacy(&gateway.server).await;
    let neighbour = Client::legacy(&gateway.server).await;
    let waiting = client.exec(YIELDS).await;
    let kept = neighbour.exec(YIELDS).await;
    let listening = client.listen(None).await;
    let running = client.open(
        2,
        "tools/call",
        super::client::called(
            "exec",
            json!({
                "code": "await MCP.fake.sleep({ ms: 60000 })"
            }),
        ),
    );
    let mut running = running.await;
    gateway.until_logged("call sleep").await;
    let ended = client.delete().await;
    assert_eq!((ended.status.as_u16(), ended.text.as_str()), (204, ""));
    for answer in [
        client.request("tools/list", json!({})).await,
        client.delete().await,
    ] {
        assert_eq!(answer.error(), (404, -32600));
        assert_eq!(
            answer.message()["error"]["message"],
            "there is no such session, or not any more: begin another with `initialize`"
        );
    }
    // What ran hears of it, and its answer is the last thing that comes.
    let last = running.message().await.unwrap();
    assert_eq!(last["result"]["structuredContent"]["code"], "aborted");
    assert_eq!(running.message().await, None);
    let mut listening = listening;
    assert_eq!(listening.event().await, None);
    gateway.until_logged("cancelled").await;
    gateway.until_runs(0, 1).await;
    assert_eq!(neighbour.wait(&kept).await["value"], 7);
    assert_eq!(neighbour.wait(&waiting).await["status"], "failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_revision_that_has_batches_takes_them() {
    let gateway = Gateway::plain().await;
    let call = |id: u64, code: &str| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "exec", "arguments": { "code": code } } })
    };
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/nothing" });
    let client = Client::with_session(&gateway.server, "2025-03-26", json!({})).await;
    let answer = client
        .post(json!([call(1, "return 1"), told, call(2, "return 2")]))
        .await;
    let mut values: Vec<_> = answer
        .messages()
        .iter()
        .map(|message| {
            (
                message["id"].clone(),
                message["result"]["structuredContent"]["value"].clone(),
            )
        })
        .collect();
    values.sort_by_key(|(id, _)| id.as_u64());
    assert_eq!(values, [(json!(1), json!(1)), (json!(2), json!(2))]);
    let answer = client.post(json!([told])).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (202, ""));
    for batch in [
        json!([]),
        json!([call(1, "return 1"), call(1, "return 2")]),
        json!([7]),
    ] {
        assert_eq!(client.post(batch.clone()).await.error(), (400, -32600), "{batch}");
    }
    for client in [
        Client::legacy(&gateway.server).await,
        Client::new(&gateway.server),
        Client::modern(&gateway.server),
    ] {
        let answer = client.post(json!([call(1, "return 1")])).await;
        assert_eq!(answer.error(), (400, -32600), "{:?}", client.version);
    }
}
