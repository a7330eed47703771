//! What an operator sees of cells, and does to them.
use serde_json::{Value, json};

use super::client::{Client, Gateway, called};

/// The only run that is listed, without what differs from time to time, and its id.
async fn only(gateway: &Gateway) -> (Value, String) {
    let mut runs = gateway.server.get("/runs").await.json();
    let [run] = runs["runs"].as_array_mut().unwrap().as_mut_slice() else {
        panic!("not one run: {runs}");
    };
    let id = run["id"].take().as_str().unwrap().to_owned();
    assert!(id.starts_with("cell_"), "{id}");
    assert!(run["startedAt"].take().as_str().unwrap().ends_with('Z'));
    assert!(!run["session"].take().as_str().unwrap().is_empty());
    (run.take(), id)
}

fn cell(state: &str) -> Value {
    json!({
        "id": null, "kind": "cell", "agent": "main", "session": null, "state": state, "startedAt": null,
    })
}

async fn abort(gateway: &Gateway, id: &str) {
    let aborted = gateway.server.delete(&format!("/runs/{id}")).await;
    assert_eq!(
        (aborted.status.as_u16(), aborted.json()),
        (200, json!({ "id": id, "aborted": true }))
    );
}

/// What became of a cell, in short.
fn end(result: &Value) -> (&str, Option<&str>) {
    (result["status"].as_str().unwrap(), result["code"].as_str())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_is_listed_until_it_ends_under_one_id() {
    let gateway = Gateway::plain().await;
    for client in [
        Client::legacy(&gateway.server).await,
        Client::modern(&gateway.server),
    ] {
        let waiting = client
            .exec("await yield_control(); await yield_control(); return 7")
            .await;
        let (listed, id) = only(&gateway).await;
        assert_eq!(listed, cell("suspended"));
        assert!(
            !gateway
                .server
                .get("/runs")
                .await
                .body
                .contains(waiting["runId"].as_str().unwrap())
        );
        let waiting = client.wait(&waiting).await;
        assert_eq!(only(&gateway).await, (cell("suspended"), id));
        assert_eq!(client.wait(&waiting).await["value"], 7);
        assert_eq!(gateway.server.get("/runs").await.json()["runs"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_cell_can_be_ended() {
    let gateway = Gateway::plain().await;
    let client = Client::legacy(&gateway.server).await;
    let (ended, kept) = (
        client.exec("await yield_control(); return 1").await,
        client.exec("await yield_control(); return 2").await,
    );
    let runs = gateway.server.get("/runs").await.json();
    abort(&gateway, runs["runs"][0]["id"].as_str().unwrap()).await;
    let (listed, _) = only(&gateway).await;
    assert_eq!(listed, cell("suspended"));
    assert_eq!(end(&client.wait(&ended).await), ("failed", Some("invalid_input")));
    assert_eq!(client.wait(&kept).await["value"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_cell_is_listed_and_can_be_ended_in_every_leg() {
    let config = json!({ "tools": { "codeMode": { "timeoutMs": 60_000 } } });
    let gateway = Gateway::start(&json!({}), config).await;
    let client = Client::legacy(&gateway.server).await;
    let sleeps = "await MCP.fake.sleep({ ms: 60000 })";
    let exec = client
        .open(2, "tools/call", called("exec", json!({ "code": sleeps })))
        .await;
    gateway.until_runs(1, 0).await;
    let (listed, id) = only(&gateway).await;
    assert_eq!(listed, cell("running"));
    abort(&gateway, &id).await;
    assert_eq!(
        end(&exec.result().await["structuredContent"]),
        ("failed", Some("aborted"))
    );

    let waiting = client.exec(&format!("await yield_control(); {sleeps}")).await;
    let (_, id) = only(&gateway).await;
    let wait = client
        .open(
            4,
            "tools/call",
            called("wait", json!({ "runId": waiting["runId"] })),
        )
        .await;
    gateway.until_runs(1, 1).await;
    assert_eq!(only(&gateway).await, (cell("running"), id.clone()));
    // One who comes too late changes nothing.
    assert_eq!(
        end(&client.wait(&waiting).await),
        ("failed", Some("invalid_input"))
    );
    assert_eq!(only(&gateway).await, (cell("running"), id.clone()));
    abort(&gateway, &id).await;
    assert_eq!(
        end(&wait.result().await["structuredContent"]),
        ("failed", Some("aborted"))
    );
    assert_eq!(gateway.server.get("/runs").await.json()["runs"], json!([]));
    let gone = gateway.server.delete(&format!("/runs/{id}")).await;
    assert_eq!(gone.error(), (404, "unknown_run".into()));
}
