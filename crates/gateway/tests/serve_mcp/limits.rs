//! How much of it there may be at once.
use serde_json::json;

use super::client::{Client, Gateway, called};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_so_many_requests_at_once_and_each_its_own_id() {
    let gateway = Gateway::start(&json!({ "directOnly": ["sleep"] }), json!({})).await;
    let client = Client::legacy(&gateway.server).await;
    let mut open = Vec::new();
    for id in 0..64 {
        open.push(
            client
                .open(id, "tools/call", called("sleep", json!({ "ms": 60_000 })))
                .await,
        );
    }
    let more = client
        .post(json!({ "jsonrpc": "2.0", "id": 64, "method": "ping" }))
        .await;
    assert_eq!(more.error(), (429, -32000));
    assert_eq!(more.headers["retry-after"], "5");
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    client.post(cancel).await;
    let twice = client
        .post(json!({ "jsonrpc": "2.0", "id": 8, "method": "ping" }))
        .await;
    assert_eq!(twice.error(), (400, -32600));
    let pong = client
        .post(json!({ "jsonrpc": "2.0", "id": 64, "method": "ping" }))
        .await;
    assert_eq!(pong.result(), json!({}));
    // Another session is not concerned.
    assert_eq!(
        Client::legacy(&gateway.server).await.exec("return 1").await["value"],
        1
    );
    client.delete().await;
    for mut stream in open {
        while stream.message().await.is_some() {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_so_many_sessions_at_once() {
    let gateway = Gateway::plain().await;
    let client = Client::new(&gateway.server);
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let mut last = None;
    for _ in 0..1024 {
        let answer = client.request("initialize", hello.clone()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        last = Some(answer.headers["mcp-session-id"].to_str().unwrap().to_owned());
    }
    let more = client.request("initialize", hello.clone()).await;
    assert_eq!(more.error(), (503, -32000));
    assert!(!more.headers.contains_key("mcp-session-id"));
    let mut leaving = client.clone();
    leaving.session = last;
    assert_eq!(leaving.delete().await.status, 204);
    super::server::until("there is room again", async || {
        client.request("initialize", hello.clone()).await.status == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_has_a_limit() {
    let gateway = Gateway::start(&json!({}), json!({ "serve": { "maxBodyBytes": 4096 } })).await;
    let client = Client::legacy(&gateway.server).await;
    let body = |length: usize| json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "x": "x".repeat(length) } });
    assert_eq!(client.post(body(3000)).await.status, 200);
    assert_eq!(client.post(body(5000)).await.error(), (413, -32600));
}
