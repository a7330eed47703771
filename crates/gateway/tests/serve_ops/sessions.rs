//! Transcripts over HTTP: what is in them, and how to be rid of them.
use serde_json::{Value, json};

use super::place::{Place, shop};
use super::provider::{Provider, Reply};
use super::server::Server;

/// A key with all that has to be escaped in a path.
const KEY: &str = "agent:main/a b%?";
const PATH: &str = "agent%3Amain%2Fa%20b%25%3F";

/// The heads of all sessions, without ids and times.
async fn heads(server: &Server) -> Vec<Value> {
    let listed = server.get("/sessions").await.json();
    let mut heads = listed["sessions"].as_array().unwrap().clone();
    for head in &mut heads {
        for field in ["id", "startedAt", "updatedAt"] {
            assert!(head[field].take().is_string());
        }
    }
    heads
}

fn head(key: &str, entries: u64, active: bool) -> Value {
    json!({
        "key": key, "id": null, "name": null, "startedAt": null, "updatedAt": null,
        "entries": entries, "active": active,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_shown_reset_and_deleted() {
    let replies = [
        Reply::Text(vec!["One."]),
        Reply::Text(vec!["Two."]),
        Reply::Text(vec!["Three."]),
    ];
    let provider = Provider::start(replies).await;
    let place = Place::new(&provider.config(json!({})));
    let server = Server::start(&place, &[]).await;
    assert_eq!(server.get("/sessions").await.json(), json!({ "sessions": [] }));
    for (key, prompt) in [(KEY, "first"), ("other", "second"), (KEY, "third")] {
        server.turn(key, prompt, &[]).await.unwrap().unwrap();
    }
    assert_eq!(heads(&server).await, [head(KEY, 4, true), head("other", 2, true)]);

    let shown = server.get(&format!("/sessions/{PATH}")).await.json();
    let said: Vec<Value> = shown["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            assert!(entry["ts"].is_string() && entry["runId"].as_str().unwrap().starts_with("turn_"));
            json!([entry["seq"], entry["type"], entry["text"]])
        })
        .collect();
    let all = [
        json!([1, "user", "first"]),
        json!([2, "assistant", "One."]),
        json!([3, "user", "third"]),
        json!([4, "assistant", "Three."]),
    ];
    assert_eq!(said, all);
    let id = shown["session"]["id"].as_str().unwrap();
    let page = server.get(&format!("/sessions/{id}?before=4&limit=2")).await;
    let page = page.json();
    assert_eq!(
        (&page["entries"][0]["seq"], &page["entries"][1]["seq"]),
        (&json!(2), &json!(3))
    );

    let reset = server.post(&format!("/sessions/{PATH}/reset"), "").await.json();
    assert_eq!(reset["key"], KEY);
    assert_ne!(reset["id"], *id);
    assert_eq!(
        heads(&server).await,
        [head(KEY, 0, true), head(KEY, 4, false), head("other", 2, true)]
    );
    let old = server.post(&format!("/sessions/{id}/reset"), "").await;
    assert_eq!(old.error(), (409, "session_not_active".into()));
    let old = server.get(&format!("/sessions/{id}")).await.json();
    assert_eq!(old["entries"], shown["entries"], "what was said is kept");

    let deleted = server.delete(&format!("/sessions/{PATH}")).await.json();
    assert_eq!(
        deleted["deleted"].as_array().unwrap().len(),
        2,
        "with what was before the reset"
    );
    assert_eq!(heads(&server).await, [head("other", 2, true)]);
    for answer in [
        server.get(&format!("/sessions/{PATH}")).await,
        server.delete(&format!("/sessions/{id}")).await,
        server.post(&format!("/sessions/{PATH}/reset"), "").await,
        server.get(&format!("/trajectory/{PATH}")).await,
    ] {
        assert_eq!(answer.error(), (404, "unknown_session".into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_a_turn_that_runs_is_left_alone() {
    let provider = Provider::start([
        Reply::Held("A", "B"),
        Reply::Call("exec", json!({ "code": "return await tools.lookup({})" })),
    ])
    .await;
    let place = Place::new(&provider.config(json!({ "tools": { "codeMode": true } })));
    let server = Server::start(&place, &[]).await;
    let turn = server.turn("s", "hi", &[]);
    provider.asked(1).await;
    let busy = (409, "session_busy".to_owned());
    assert_eq!(server.delete("/sessions/s").await.error(), busy);
    assert_eq!(server.post("/sessions/s/reset", "").await.error(), busy);
    provider.let_go();
    let answer = turn.await.unwrap().unwrap().json();
    assert_eq!(answer["choices"][0]["message"]["content"], "AB");
    // One that only waits for its client is given up.
    server.turn("s", "hi", &["lookup"]).await.unwrap().unwrap();
    assert_eq!(server.post("/sessions/s/reset", "").await.status, 200);
    assert_eq!(server.get("/runs").await.json()["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trajectory_tells_which_calls_a_program_made() {
    let secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789";
    let code = format!("// {secret}\nreturn (await MCP.shop.listProducts({{}})) !== null");
    let provider = Provider::start([
        Reply::Call("exec", json!({ "code": code })),
        Reply::Text(vec!["Done."]),
    ])
    .await;
    let place = Place::new(&provider.config(json!({ "tools": { "codeMode": true }, "mcp": shop() })));
    let server = Server::start(&place, &[]).await;
    server.turn("s", "look", &[]).await.unwrap().unwrap();
    let exported = server.get("/trajectory/s").await;
    assert_eq!(exported.headers["content-type"], "application/x-ndjson");
    assert!(!exported.body.contains(secret), "{}", exported.body);
    let events: Vec<Value> = exported
        .body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let shape: Vec<Value> = events
        .iter()
        .map(|event| {
            let data = &event["data"];
            json!([event["type"], data["name"], data["parentToolCallId"].is_string()])
        })
        .collect();
    assert_eq!(
        shape,
        [
            json!(["user.message", null, false]),
            json!(["tool.call", "exec", false]),
            json!(["tool.call", "MCP.shop.listProducts", true]),
            json!(["tool.result", "MCP.shop.listProducts", true]),
            json!(["tool.result", "exec", false]),
            json!(["assistant.message", null, false]),
        ]
    );
    assert_eq!(
        events[2]["data"]["parentToolCallId"],
        events[1]["data"]["toolCallId"]
    );
    let id = events[0]["sessionId"].as_str().unwrap();
    let by_id = server.get(&format!("/trajectory/{id}")).await;
    assert_eq!(by_id.body, exported.body);
}
