//! A session in the course of time, with the test in the place of what answers.
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, JsonRpcRequest, NumberOrString,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::time::{advance, timeout};
use tokio_util::sync::CancellationToken;

use super::session::{Line, Session};

fn session() -> (Arc<Session>, Line) {
    Session::new(CancellationToken::new())
}

fn call(id: i64) -> JsonRpcRequest<ClientRequest> {
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "exec" } });
    match serde_json::from_value(message).unwrap() {
        ClientJsonRpcMessage::Request(request) => request,
        other => panic!("no request: {other:?}"),
    }
}

/// The next message that came in, as JSON.
async fn received(line: &mut Line) -> Value {
    let message = line.receive().await.unwrap();
    serde_json::to_value(message).unwrap()
}

async fn answer(line: &mut Line, id: i64) {
    let result = ServerResult::EmptyResult(rmcp::model::EmptyResult {});
    let message: ServerJsonRpcMessage = JsonRpcMessage::response(result, NumberOrString::Number(id));
    let Ok(()) = Transport::<RoleServer>::send(line, message).await;
}

/// Whether nothing more comes in for so long.
async fn silent(line: &mut Line, for_long: Duration) -> bool {
    timeout(for_long, line.receive()).await.is_err()
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_comes_back_for_is_cancelled() {
    let (session, mut line) = session();
    let reader = session.request(vec![call(1)], None).await.unwrap();
    received(&mut line).await;
    drop(reader);
    assert!(silent(&mut line, 29 * SECOND).await);
    let cancelled = received(&mut line).await;
    assert_eq!(
        cancelled,
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 1, "reason": "the client left" } })
    );
    // Its id is free again, and an answer that comes all the same goes nowhere.
    answer(&mut line, 1).await;
    let mut reader = session.request(vec![call(1)], None).await.unwrap();
    answer(&mut line, 1).await;
    assert_eq!(
        reader.next().await.unwrap().text,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_come_back_for_goes_on() {
    let (session, mut line) = session();
    drop(session.request(vec![call(1)], None).await.unwrap());
    received(&mut line).await;
    assert!(silent(&mut line, 20 * SECOND).await);
    let back = session.listen(Some("1-0")).unwrap();
    assert!(silent(&mut line, 60 * SECOND).await);
    drop(back);
    assert!(silent(&mut line, 20 * SECOND).await);
    answer(&mut line, 1).await;
    assert!(silent(&mut line, 20 * SECOND).await);
    // The answer is kept for a while, and no longer.
    let mut late = session.listen(Some("1-0")).unwrap();
    assert!(
        late.next().await.is_none(),
        "a reader that has heard the answer has heard all"
    );
    advance(60 * SECOND).await;
    tokio::task::yield_now().await;
    assert!(session.listen(Some("1-0")).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_session_is_idle_when_nobody_asks_and_nobody_listens() {
    const ALMOST: Duration = Duration::from_secs(29 * 60);
    let (session, mut line) = session();
    let mut idle = tokio::spawn({
        let session = Arc::clone(&session);
        async move { session.idle().await }
    });
    let mut lasts = async |long: Duration| timeout(long, &mut idle).await.is_err();
    assert!(lasts(ALMOST).await);
    // A request, as long as it takes.
    let reader = session.request(vec![call(1)], None).await.unwrap();
    received(&mut line).await;
    assert!(lasts(2 * ALMOST).await);
    answer(&mut line, 1).await;
    drop(reader);
    assert!(lasts(ALMOST).await);
    // Somebody who listens.
    let here = session.touch();
    assert!(lasts(2 * ALMOST).await);
    drop(here);
    assert!(lasts(ALMOST).await);
    assert!(!lasts(2 * 60 * SECOND).await);
}

#[tokio::test(start_paused = true)]
async fn so_many_answered_requests_are_kept() {
    let (session, mut line) = session();
    for id in 1..=17 {
        drop(session.request(vec![call(id)], None).await.unwrap());
        received(&mut line).await;
        answer(&mut line, id).await;
    }
    assert!(session.listen(Some("1-0")).is_err());
    assert!(session.listen(Some("2-0")).is_ok());
}
