//! Health, runs and approvals.
use axum::http::Method;
use serde_json::{Value, json};

use super::place::{Place, shop, writable};
use super::provider::{Provider, Reply};
use super::server::{Send, Server, until};

/// A run as it is listed, without what differs from time to time.
fn fixed(mut runs: Value) -> Value {
    for run in runs["runs"].as_array_mut().unwrap() {
        let id = run["id"].take();
        assert!(id.as_str().unwrap().starts_with("turn_"));
        let at = run["startedAt"].take();
        assert!(at.as_str().unwrap().ends_with('Z'), "{at}");
        for call in run["clientCalls"].as_array_mut().unwrap() {
            assert!(call["id"].take().as_str().unwrap().starts_with("call_"));
        }
    }
    runs
}

/// The id of the only run.
async fn run_id(server: &Server) -> String {
    let runs = server.get("/runs").await.json();
    runs["runs"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn health_tells_what_there_is() {
    let place = Place::new(&json!({ "mcp": shop() }));
    let server = Server::start(&place, &[]).await;
    assert_eq!(server.get("/healthz").await.json(), json!({ "status": "ok" }));
    let ready = json!({
        "status": "ready", "engine": "ready", "servers": [{ "name": "shop", "state": "ready" }]
    });
    until("all is ready", async || {
        server.get("/readyz").await.json() == ready
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_runs_is_listed_and_can_be_aborted() {
    let provider = Provider::start([Reply::Held("Well", "…")]).await;
    let place = Place::new(&provider.config(json!({ "tools": { "codeMode": true } })));
    let server = Server::start(&place, &[]).await;
    let nothing = json!({ "runs": [], "suspendedCells": 0, "liveVms": 0 });
    assert_eq!(server.get("/runs").await.json(), nothing);
    let turn = server.turn("s", "hi", &[]);
    provider.asked(1).await;
    let runs = json!({
        "runs": [{
            "id": null, "kind": "turn", "agent": "main", "session": "s", "model": "fake/small",
            "state": "running", "startedAt": null, "rounds": 1, "clientCalls": [],
        }],
        "suspendedCells": 0, "liveVms": 0,
    });
    assert_eq!(fixed(server.get("/runs").await.json()), runs);
    let id = run_id(&server).await;
    let aborted = server.delete(&format!("/runs/{id}")).await;
    assert_eq!(
        (aborted.status.as_u16(), aborted.json()),
        (200, json!({ "id": id, "aborted": true }))
    );
    assert!(turn.await.unwrap().is_some(), "its client is told");
    assert_eq!(server.get("/runs").await.json(), nothing);
    let gone = server.delete(&format!("/runs/{id}")).await;
    assert_eq!(gone.error(), (404, "unknown_run".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waits_for_its_client_is_listed_with_its_calls() {
    let code = "return await tools.lookup({ q: 1 })";
    let provider = Provider::start([Reply::Call("exec", json!({ "code": code }))]).await;
    let place = Place::new(&provider.config(json!({ "tools": { "codeMode": true } })));
    let server = Server::start(&place, &[]).await;
    let answer = server.turn("s", "hi", &["lookup"]).await.unwrap().unwrap();
    assert_eq!(answer.json()["choices"][0]["finish_reason"], "tool_calls");
    let runs = json!({
        "runs": [{
            "id": null, "kind": "turn", "agent": "main", "session": "s", "model": "fake/small",
            "state": "waiting_for_client", "startedAt": null, "rounds": 1,
            "clientCalls": [{ "id": null, "tool": "lookup" }],
        }],
        "suspendedCells": 1, "liveVms": 0,
    });
    assert_eq!(fixed(server.get("/runs").await.json()), runs);
    let id = run_id(&server).await;
    server.delete(&format!("/runs/{id}")).await;
    let nothing = json!({ "runs": [], "suspendedCells": 0, "liveVms": 0 });
    assert_eq!(server.get("/runs").await.json(), nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_over_http() {
    let code = "return await tools.write({ path: 'a', text: 'x' })";
    let provider = Provider::start([
        Reply::Call("exec", json!({ "code": code })),
        Reply::Text(vec!["Done."]),
    ])
    .await;
    let tools = json!({ "codeMode": true, "fs": writable(), "approvals": { "ask": ["write"] } });
    let place = Place::new(&provider.config(json!({ "tools": tools })));
    let server = Server::start(&place, &[]).await;
    assert_eq!(server.get("/approvals").await.json(), json!({ "approvals": [] }));
    let turn = server.turn("s", "hi", &[]);
    until("a question", async || {
        server.get("/approvals").await.json()["approvals"] != json!([])
    })
    .await;
    let listed = server.get("/approvals").await.json()["approvals"].clone();
    assert_eq!(listed, Value::from(place.questions()), "as the desk shows it");
    let id = listed[0]["id"].as_str().unwrap();
    let path = format!("/approvals/{}", id.replace(':', "%3A"));
    for (path, body, expected) in [
        (path.as_str(), "{", (400, "invalid_json")),
        (&path, "{}", (400, "invalid_decision")),
        (&path, r#"{"decision":"yes"}"#, (400, "invalid_decision")),
        (
            "/approvals/policy:1",
            r#"{"decision":"deny"}"#,
            (404, "unknown_approval"),
        ),
    ] {
        let (status, code) = server.post(path, body).await.error();
        assert_eq!((status, code.as_str()), expected, "{body}");
    }
    let decided = server.post(&path, r#"{"decision":"allow-once"}"#).await;
    assert_eq!(decided.json(), json!({ "id": id, "decision": "allow-once" }));
    let answer = turn.await.unwrap().unwrap().json();
    assert_eq!(answer["choices"][0]["message"]["content"], "Done.");
    assert_eq!(place.read("files/a"), "x");
    let again = server.post(&path, r#"{"decision":"deny"}"#).await;
    assert_eq!(again.error(), (409, "approval_already_decided".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_answered_is_an_error_of_one_shape() {
    let place = Place::new(&json!({ "serve": { "maxBodyBytes": 1024 } }));
    let server = Server::start(&place, &[]).await;
    let large = format!("{{\"decision\":\"{}\"}}", "x".repeat(2_000));
    for (method, path, body, expected) in [
        (Method::GET, "/", None, (404, "unknown_route")),
        (Method::GET, "/runs/", None, (404, "unknown_route")),
        (Method::POST, "/runs", None, (405, "wrong_method")),
        (Method::GET, "/runs/turn_1", None, (405, "wrong_method")),
        (Method::DELETE, "/runs/%ff", None, (400, "invalid_path")),
        (Method::GET, "/sessions/a?limit=x", None, (400, "invalid_query")),
        (
            Method::POST,
            "/approvals/a",
            Some(large),
            (413, "request_too_large"),
        ),
    ] {
        let send = Send {
            headers: &[("content-type", "application/json")],
            body,
        };
        let answer = server.send(method.clone(), path, send).await;
        let (status, code) = answer.error();
        assert_eq!((status, code.as_str()), expected, "{method} {path}");
    }
}
