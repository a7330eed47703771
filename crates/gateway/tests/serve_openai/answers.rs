//! What becomes of outputs that do not fit the calls that wait.
use serde_json::{Value, json};

use super::provider::{Reply, cell};
use super::server::{Answer, CHAT, RESPONSES, World, chat, error, flat_lookup, lookup, user};

const BOTH: &str = "const [a, b] = await Promise.all([tools.lookup({ q: 'a' }), tools.lookup({ q: 'b' })]);
                    return a + b";

fn output(call: &Value, content: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": call, "content": content })
}

/// A request that begins a turn which calls tools of the application.
fn asking() -> Value {
    let mut body = chat(json!([user("look it up")]));
    body["tools"] = lookup();
    body
}

/// The ids of the calls that a chat completion ends with.
fn calls(answer: &Answer) -> Vec<Value> {
    let message = answer.ok()["choices"][0]["message"].take();
    let calls = message["tool_calls"]
        .as_array()
        .unwrap_or_else(|| panic!("{message}"));
    calls.iter().map(|call| call["id"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_calls_are_answered_together_and_once() {
    let world = World::new([cell(BOTH), Reply::Text(vec!["done"])]).await;
    let server = &world.server;
    let ids = calls(&server.post(CHAT, &asking()).await);
    let [a, b] = &ids[..] else { panic!("{ids:?}") };
    let give = async |outputs: Value| server.post(CHAT, &chat(outputs)).await.error();

    let missing = give(json!([output(a, "1")])).await;
    assert_eq!(missing, error(400, "missing_tool_output", json!("messages")));
    let strange = give(json!([
        output(a, "1"),
        output(b, "2"),
        output(&json!("call_x"), "3")
    ]))
    .await;
    assert_eq!(
        strange,
        error(400, "unknown_tool_call", json!("messages[2].tool_call_id"))
    );
    let twice = give(json!([output(a, "1"), output(b, "2"), output(b, "2")])).await;
    assert_eq!(
        twice,
        error(400, "invalid_value", json!("messages[2].tool_call_id"))
    );

    let given = json!([user("look it up"), output(b, "20"), output(a, "1")]);
    let answer = server.post(CHAT, &chat(given)).await.ok();
    assert_eq!(
        answer["choices"][0]["message"]["content"], "done",
        "none of that changed anything"
    );
    let told = world.provider.last_messages().pop().unwrap();
    assert!(told["content"].as_str().unwrap().contains("21"), "{told}");
    let again = give(json!([output(a, "1"), output(b, "2")])).await;
    assert_eq!(
        again,
        error(
            409,
            "tool_call_already_answered",
            json!("messages[0].tool_call_id")
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_answers_at_once_one_counts() {
    let program = "return (await tools.lookup({ q: 'a' }))";
    let world = World::new([cell(program), Reply::Text(vec!["done"])]).await;
    let server = &world.server;
    let ids = calls(&server.post(CHAT, &asking()).await);
    let body = chat(json!([output(&ids[0], "1")]));
    let (one, other) = tokio::join!(server.post(CHAT, &body), server.post(CHAT, &body));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{one:?} {other:?}");
    let late = if one.status == 409 { one } else { other };
    assert_eq!(
        late.error(),
        error(
            409,
            "tool_call_already_answered",
            json!("messages[0].tool_call_id")
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_another_process_are_unknown() {
    let mut world = World::new([cell(BOTH)]).await;
    let ids = calls(&world.server.post(CHAT, &asking()).await);
    world.server.restart();
    let outputs = json!([output(&ids[0], "1"), output(&ids[1], "2")]);
    let answer = world.server.post(CHAT, &chat(outputs)).await;
    assert_eq!(
        answer.error(),
        error(400, "unknown_tool_call", json!("messages[0].tool_call_id"))
    );
    let flat = json!([{ "type": "function_call_output", "call_id": ids[0], "output": "1" }]);
    let answer = world
        .server
        .post(RESPONSES, &json!({ "model": "codecell", "input": flat }))
        .await;
    assert_eq!(
        answer.error(),
        error(400, "unknown_tool_call", json!("input[0].call_id"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_that_a_message_follows_are_history() {
    let world = World::new([cell(BOTH), Reply::Text(vec!["Fine."])]).await;
    let first = world.server.post(CHAT, &asking()).await;
    let ids = calls(&first);
    let messages = json!([output(&ids[0], "1"), output(&ids[1], "2"), user("never mind")]);
    let next = Answer::to(world.server.chat_in(first.session(), &chat(messages))).await;
    assert_eq!(next.ok()["choices"][0]["message"]["content"], "Fine.");
    let outputs = json!([output(&ids[0], "1"), output(&ids[1], "2")]);
    let late = world.server.post(CHAT, &chat(outputs)).await;
    assert_eq!(
        late.error(),
        error(400, "unknown_tool_call", json!("messages[0].tool_call_id")),
        "the turn that waited was given up"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_is_no_json_is_a_string() {
    let program = "const a = await tools.lookup({ q: 'a' }); return [typeof a, a]";
    let world = World::new([cell(program), Reply::Text(vec!["done"])]).await;
    let body = json!({ "model": "codecell", "input": "look it up", "tools": flat_lookup() });
    let call = world.server.post(RESPONSES, &body).await.ok()["output"][0]["call_id"].take();
    let input = json!([{ "type": "function_call_output", "call_id": call, "output": "plain {text" }]);
    let body = json!({ "model": "codecell", "input": input });
    world.server.post(RESPONSES, &body).await.ok();
    let told = world.provider.last_messages().pop().unwrap();
    let told: Value = serde_json::from_str(told["content"].as_str().unwrap()).unwrap();
    assert_eq!(told["value"], json!(["string", "plain {text"]));
}
