//! Questions to the person in front of the client.
use serde_json::{Value, json};

use super::client::{Client, Gateway, LEGACY, Stream, called};
use super::place::writable;

const WRITE: &str = "return (await tools.write({ path: 'a.txt', text: 'one' })).created";

async fn asking(code_mode: Value) -> Gateway {
    let config =
        json!({ "tools": { "codeMode": code_mode, "fs": writable(), "approvals": { "ask": ["write"] } } });
    Gateway::start(&json!({}), config).await
}

/// A client whose person can be asked.
async fn can_ask(gateway: &Gateway) -> Client {
    Client::with_session(&gateway.server, LEGACY, json!({ "elicitation": {} })).await
}

/// Runs the program that writes: where its result will come, and the question that came there.
async fn question(client: &Client) -> (Stream, Value) {
    let mut stream = client
        .open(3, "tools/call", called("exec", json!({ "code": WRITE })))
        .await;
    let question = stream.said("elicitation/create").await;
    (stream, question)
}

fn reply(question: &Value, decision: &str) -> Value {
    let result = json!({ "action": "accept", "content": { "decision": decision } });
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_comes_where_its_call_is_answered() {
    let gateway = asking(json!({})).await;
    let client = can_ask(&gateway).await;
    let mut beside = client.listen(None).await;
    let (stream, question) = question(&client).await;
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("Tool: openclaw:core:write"), "{message}");
    assert_eq!(client.post(reply(&question, "allow-once")).await.status, 202);
    assert_eq!(stream.result().await["structuredContent"]["value"], true);
    assert_eq!(gateway.place.read("files/a.txt"), "one");
    // Nothing of it came on the other stream: that ends with the session, without an event.
    client.delete().await;
    assert_eq!(beside.event().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_suspended_cell_comes_to_whoever_listens_or_waits() {
    // Short, because each `wait` takes that long; long enough for a machine that does much else.
    let gateway = asking(json!({ "timeoutMs": 2_000 })).await;
    let later = format!("await yield_control(); {WRITE}");
    for listens in [true, false] {
        let client = can_ask(&gateway).await;
        let waiting = client.exec(&later).await;
        assert_eq!(waiting["reason"], "yield");
        let wait = called("wait", json!({ "runId": waiting["runId"] }));
        let mut beside = match listens {
            true => Some(client.listen(None).await),
            false => None,
        };
        let mut stream = client.open(4, "tools/call", wait.clone()).await;
        let question = stream.said("elicitation/create").await;
        let suspended = stream.result().await;
        assert_eq!(suspended["structuredContent"]["reason"], "pending_tools");
        // The answer may come when nothing runs any more.
        assert_eq!(client.post(reply(&question, "deny")).await.status, 202);
        let failed = client.wait(&suspended["structuredContent"]).await;
        let error = failed["error"].as_str().unwrap();
        assert!(error.contains("Denied by user"), "{failed}");
        client.delete().await;
        if let Some(beside) = &mut beside {
            assert_eq!(beside.event().await, None);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_settled_elsewhere_is_withdrawn() {
    let gateway = asking(json!({})).await;
    let client = can_ask(&gateway).await;
    let mut beside = client.listen(None).await;
    let (mut stream, question) = question(&client).await;
    tokio::task::block_in_place(|| gateway.place.answer(&["deny"]));
    // Before the answer to the call, or beside it if the call was faster.
    let mut heard = Vec::new();
    while let Some(message) = stream.message().await {
        heard.push(message);
    }
    assert_eq!(
        heard.pop().unwrap()["result"]["structuredContent"]["status"],
        "failed"
    );
    if heard.is_empty() {
        heard.extend(beside.message().await);
    }
    let withdrawn = json!({ "requestId": question["id"], "reason": "settled elsewhere" });
    let heard: Vec<_> = heard
        .iter()
        .map(|message| (&message["method"], &message["params"]))
        .collect();
    assert_eq!(heard, [(&json!("notifications/cancelled"), &withdrawn)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_twice_and_nobody_who_cannot_be_asked() {
    let gateway = asking(json!({})).await;
    let client = can_ask(&gateway).await;
    // A client that says twice that it is ready.
    client
        .post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    let (mut stream, question) = question(&client).await;
    client.post(reply(&question, "allow-once")).await;
    while let Some(message) = stream.message().await {
        assert_eq!(message.get("method"), None, "asked twice: {message}");
    }
    let modern = Client::modern(&gateway.server);
    let client = modern.clone();
    let call = tokio::spawn(async move { client.exec(WRITE).await });
    tokio::task::block_in_place(|| gateway.place.answer(&["deny"]));
    assert_eq!(call.await.unwrap()["status"], "failed");
}
