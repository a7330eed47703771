//! What ends with what it belongs to.
use rustix::process::Signal;
use serde_json::json;

use super::client::{Client, Gateway, Stream, called};
use super::server::until;

/// A program that goes on for a minute.
const LONG: &str = "await MCP.fake.sleep({ ms: 60000 }); return 1";

fn long() -> serde_json::Value {
    called("exec", json!({ "code": LONG }))
}

/// This program in both eras, once it runs: their clients, and where the results will come.
async fn both_run(gateway: &Gateway, code: &str) -> ([Client; 2], Vec<Stream>) {
    let clients = [
        Client::legacy(&gateway.server).await,
        Client::modern(&gateway.server),
    ];
    let mut streams = Vec::new();
    for client in &clients {
        let mut params = called("exec", json!({ "code": code }));
        params["_meta"] = json!({ "progressToken": "t" });
        let mut stream = client.open(1, "tools/call", params).await;
        stream.said("notifications/progress").await;
        streams.push(stream);
    }
    (clients, streams)
}

/// Asks the process to end, and waits until it has heard so.
async fn asked_to_end(gateway: &Gateway, modern: &Client) {
    gateway.server.signal(Signal::TERM);
    until("nothing new begins", async || {
        modern.request("tools/list", json!({})).await.status == 503
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_cancelled_by_saying_so_where_there_are_sessions() {
    let gateway = Gateway::plain().await;
    let client = Client::legacy(&gateway.server).await;
    let mut stream = client.open(3, "tools/call", long()).await;
    gateway.until_logged("call sleep").await;
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } });
    assert_eq!(client.post(cancel).await.status, 202);
    assert_eq!(stream.message().await, None, "a cancelled request gets no answer");
    gateway.until_logged("cancelled").await;
    gateway.until_runs(0, 0).await;
    assert_eq!(client.exec("return 2").await["value"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_cancelled_by_hanging_up_where_there_are_none() {
    let gateway = Gateway::plain().await;
    let client = Client::modern(&gateway.server);
    // Before there is any answer, and in the middle of one.
    let early = client.begin("tools/call", long());
    gateway.until_logged("call sleep").await;
    gateway.until_runs(1, 0).await;
    early.abort();
    gateway.until_logged("cancelled").await;
    gateway.until_runs(0, 0).await;
    let mut params = long();
    params["_meta"] = json!({ "progressToken": "t" });
    let mut stream = client.open(1, "tools/call", params).await;
    assert_eq!(
        stream.message().await.unwrap()["method"],
        "notifications/progress"
    );
    gateway.until_runs(1, 0).await;
    drop(stream);
    gateway.until_runs(0, 0).await;
    assert_eq!(client.exec("return 2").await["value"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_runs_may_finish_when_the_process_is_asked_to_end() {
    let mut gateway = Gateway::plain().await;
    let code = "await MCP.fake.sleep({ ms: 1000 }); return 1";
    let ([legacy, modern], streams) = both_run(&gateway, code).await;
    let mut listening = legacy.listen(None).await;
    asked_to_end(&gateway, &modern).await;
    for stream in streams {
        assert_eq!(stream.result().await["structuredContent"]["value"], 1);
    }
    assert_eq!(listening.event().await, None);
    assert_eq!(gateway.server.ended().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_twice_ends_what_runs() {
    let mut gateway = Gateway::plain().await;
    let ([_, modern], streams) = both_run(&gateway, LONG).await;
    asked_to_end(&gateway, &modern).await;
    gateway.server.signal(Signal::TERM);
    for stream in streams {
        assert_eq!(stream.result().await["structuredContent"]["code"], "aborted");
    }
    assert_eq!(gateway.server.ended().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_session_has_its_end_in_the_trajectory() {
    let gateway = Gateway::start(&json!({}), json!({})).await;
    let Gateway { server, place, .. } = gateway;
    drop(server);
    let mut server = super::server::Server::start(&place, &["--trajectory", "trajectory.jsonl"]).await;
    let left = Client::legacy(&server).await;
    left.exec("return 1").await;
    assert_eq!(left.delete().await.status, 204);
    let stays = Client::legacy(&server).await;
    stays.exec("return 2").await;
    Client::modern(&server).exec("return 3").await;
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
    let lines = place.read("trajectory.jsonl");
    let count = |kind: &str| lines.matches(kind).count();
    assert_eq!(
        (count("session.started"), count("session.ended")),
        (3, 3),
        "{lines}"
    );
}
