//! What comes before an answer, beside it, and after a connection broke.
use rustix::process::Signal;
use serde_json::{Value, json};

use super::client::{Client, Gateway, called};

const NEWS: &str = "notifications/progress";
const CHANGED: &str = "notifications/tools/list_changed";

#[tokio::test(flavor = "multi_thread")]
async fn progress_comes_before_the_answer_in_both_eras() {
    let gateway = Gateway::start(&json!({ "directOnly": ["progress"] }), json!({})).await;
    let legacy = Client::legacy(&gateway.server).await;
    let modern = Client::modern(&gateway.server);
    for client in [&legacy, &modern] {
        for token in [json!("t"), json!(7)] {
            let mut params = called("progress", json!({ "steps": 2, "ms": 0 }));
            params["_meta"] = json!({ "progressToken": token });
            let messages = client.request("tools/call", params).await.messages();
            let (answer, news) = messages.split_last().unwrap();
            assert_eq!(answer["result"]["content"], json!([]));
            let news: Vec<_> = news
                .iter()
                .map(|told| (told["method"].clone(), told["params"].clone()))
                .collect();
            let told = |progress: u64| {
                let params =
                    json!({ "progressToken": token, "progress": progress as f64, "message": "on it" });
                (json!(NEWS), params)
            };
            assert_eq!(news, [told(1), told(2)]);
        }
        // Whoever wants no progress gets none.
        let messages = client
            .request("tools/call", called("progress", json!({ "steps": 2, "ms": 0 })))
            .await;
        assert_eq!(messages.messages().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_tells_of_its_calls_while_it_runs() {
    let gateway = Gateway::plain().await;
    let legacy = Client::legacy(&gateway.server).await;
    for client in [legacy, Client::modern(&gateway.server)] {
        let code = "await MCP.fake.echo({}); await yield_control(); await MCP.fake.echo({}); return 1";
        let mut params = called("exec", json!({ "code": code }));
        params["_meta"] = json!({ "progressToken": "t" });
        let messages = client.request("tools/call", params).await.messages();
        let said = |message: &Value| message["params"]["message"].as_str().map(str::to_owned);
        assert_eq!(
            said(&messages[0]).unwrap(),
            "MCP.fake.echo started (0 calls done, 1 running)"
        );
        let waiting = messages.last().unwrap()["result"]["structuredContent"].clone();
        // The next request hears of the calls that the cell goes on with.
        let mut params = called("wait", json!({ "runId": waiting["runId"] }));
        params["_meta"] = json!({ "progressToken": "u" });
        let messages = client.request("tools/call", params).await.messages();
        assert_eq!(
            said(&messages[0]).unwrap(),
            "MCP.fake.echo started (1 calls done, 1 running)"
        );
        assert_eq!(messages[0]["params"]["progressToken"], "u");
        assert_eq!(
            messages.last().unwrap()["result"]["structuredContent"]["value"],
            1
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_list_is_told_to_whoever_listens() {
    let mut gateway = Gateway::playing(
        json!({ "list_changed": true }),
        &json!({ "directOnly": true }),
        json!({}),
    )
    .await;
    let legacy = Client::legacy(&gateway.server).await;
    let mut listening = legacy.listen(None).await;
    let modern = Client::modern(&gateway.server);
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let mut subscribed = modern.open(9, "subscriptions/listen", params).await;
    let acknowledged = subscribed.said("notifications/subscriptions/acknowledged").await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "toolsListChanged": true })
    );
    assert_eq!(legacy.call("mutate", json!({})).await["content"], json!([]));
    listening.said(CHANGED).await;
    let told = subscribed.said(CHANGED).await;
    assert_eq!(
        told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        9
    );
    for client in [&legacy, &modern] {
        let list = client.request("tools/list", json!({})).await.result();
        let mut tools = list["tools"].as_array().unwrap().iter();
        assert!(tools.any(|tool| tool["name"] == "new_tool"), "{list}");
    }
    // Whoever listens holds nobody up.
    gateway.server.signal(Signal::TERM);
    assert_eq!(subscribed.result().await["resultType"], "complete");
    assert_eq!(listening.message().await, None);
    assert_eq!(gateway.server.ended().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_listened_to_is_there_for_who_comes_later_and_told_once() {
    let gateway = Gateway::playing(
        json!({ "list_changed": true }),
        &json!({ "directOnly": true }),
        json!({}),
    )
    .await;
    let client = Client::legacy(&gateway.server).await;
    client.call("mutate", json!({})).await;
    let mut first = client.listen(None).await;
    let event = first.event().await.unwrap();
    assert_eq!(event.message().unwrap()["method"], CHANGED);
    drop(first);
    let mut second = client.listen(None).await;
    client.delete().await;
    assert_eq!(second.event().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_can_be_come_back_for() {
    let gateway = Gateway::plain().await;
    let client = Client::legacy(&gateway.server).await;
    let code = "await MCP.fake.sleep({ ms: 500 }); return 1";
    let mut broken = client
        .open(3, "tools/call", called("exec", json!({ "code": code })))
        .await;
    let greeting = broken.event().await.unwrap();
    assert_eq!(greeting.data, "");
    gateway.until_logged("call sleep").await;
    drop(broken);
    let back = client.listen(greeting.id.as_deref()).await;
    assert_eq!(back.result().await["structuredContent"]["value"], 1);
    // Again, for whoever lost the answer itself.
    let again = client.listen(greeting.id.as_deref()).await;
    assert_eq!(again.result().await["structuredContent"]["value"], 1);
    assert_eq!(gateway.stage.count("call sleep"), 1);
    for unknown in ["99-0", "0", "x", "-", "1-x"] {
        assert_eq!(client.listen(Some(unknown)).await.status(), 400, "{unknown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn revisions_that_know_no_greeting_get_none() {
    let gateway = Gateway::plain().await;
    let client = Client::with_session(&gateway.server, "2025-06-18", json!({})).await;
    let mut stream = client
        .open(3, "tools/call", called("exec", json!({ "code": "return 1" })))
        .await;
    let only = stream.event().await.unwrap();
    assert_eq!(only.message().unwrap()["result"]["structuredContent"]["value"], 1);
    assert!(only.id.is_some());
    assert_eq!(stream.event().await, None);
}
