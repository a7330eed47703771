//! Cells that call the application's tools: the response ends, and the next request takes the very same cell on.
use serde_json::{Value, json};

use super::provider::{Reply, cell};
use super::server::{CHAT, RESPONSES, World, chat, error, flat_lookup, lookup, user};

const PROGRAM: &str = "text('before '); const found = await tools.lookup({ q: 'x' });
                       text('after ' + found.answer); return found.answer * 2";

/// What the model was told of its call of exec.
fn told(world: &World) -> Value {
    let result = world.provider.last_messages().pop().unwrap();
    assert_eq!(result["role"], "tool", "{result}");
    serde_json::from_str(result["content"].as_str().unwrap()).unwrap()
}

fn assert_went_on(world: &World) {
    let told = told(world);
    assert_eq!(
        (&told["status"], &told["value"], &told["output"]),
        (
            &json!("completed"),
            &json!(42),
            &json!([{ "type": "text", "text": "before " }, { "type": "text", "text": "after 21" }]),
        ),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_goes_on_with_the_output_that_the_next_chat_request_brings() {
    let world = World::new([cell(PROGRAM), Reply::Text(vec!["It is 42."])]).await;
    let mut body = chat(json!([user("look it up")]));
    body["tools"] = lookup();
    let first = world.server.post(CHAT, &body).await;
    let choice = first.ok()["choices"][0].take();
    assert_eq!(
        (&choice["finish_reason"], &choice["message"]["content"]),
        (&json!("tool_calls"), &Value::Null)
    );
    let calls = &choice["message"]["tool_calls"];
    let id = calls[0]["id"].as_str().unwrap();
    let hex = id.strip_prefix("call_").unwrap();
    assert!(
        hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{id}"
    );
    assert_eq!(
        calls,
        &json!([{ "id": id, "type": "function", "function": { "name": "lookup", "arguments": "{\"q\":\"x\"}" } }])
    );
    let seen = world.provider.seen();
    let tools: Vec<&Value> = seen[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(tools, ["exec", "wait"], "the model sees nothing of it");

    let output = json!({ "role": "tool", "tool_call_id": id, "content": "{\"answer\":21}" });
    body["messages"] = json!([user("look it up"), choice["message"], output]);
    let second = world.server.post(CHAT, &body).await;
    assert_eq!(second.ok()["choices"][0]["message"]["content"], "It is 42.");
    assert_eq!(second.session(), first.session());
    assert_ne!(second.ok()["id"], first.ok()["id"]);
    for answer in [&first, &second] {
        assert_eq!(
            answer.ok()["usage"]["total_tokens"],
            12,
            "each tells its own round"
        );
    }
    assert_went_on(&world);
    assert_eq!(
        world.provider.last_messages()[1..2],
        [user("look it up")],
        "what the application repeats is not told twice"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn both_parts_of_a_chat_turn_can_be_streams() {
    let world = World::new([cell(PROGRAM), Reply::Text(vec!["It is 42."])]).await;
    let mut body = chat(json!([user("look it up")]));
    body["tools"] = lookup();
    body["stream"] = json!(true);
    let events = world.server.post(CHAT, &body).await.events();
    let choices: Vec<&Value> = events.iter().map(|(_, data)| &data["choices"][0]).collect();
    let call = &choices[1]["delta"]["tool_calls"][0];
    assert_eq!(
        (&call["index"], &call["type"], &call["function"]),
        (
            &json!(0),
            &json!("function"),
            &json!({ "name": "lookup", "arguments": "{\"q\":\"x\"}" })
        )
    );
    assert_eq!(choices[2]["finish_reason"], "tool_calls");
    assert_eq!(events[3].1, "[DONE]");

    body["messages"] = json!([{ "role": "tool", "tool_call_id": call["id"], "content": "{\"answer\":21}" }]);
    let events = world.server.post(CHAT, &body).await.events();
    assert_eq!(
        events[1].1["choices"][0]["delta"],
        json!({ "content": "It is 42." })
    );
    assert_went_on(&world);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_goes_on_with_the_output_that_the_next_responses_request_brings() {
    let world = World::new([cell(PROGRAM), Reply::Text(vec!["It is 42."])]).await;
    let mut body = json!({ "model": "codecell", "input": "look it up", "tools": flat_lookup() });
    let first = world.server.post(RESPONSES, &body).await;
    let response = first.ok();
    let item = &response["output"][0];
    assert!(item["id"].as_str().unwrap().starts_with("fc_"), "{item}");
    assert_eq!(
        item,
        &json!({
            "id": item["id"], "type": "function_call", "status": "completed", "call_id": item["call_id"],
            "name": "lookup", "arguments": "{\"q\":\"x\"}",
        })
    );
    assert_eq!(response["status"], "completed");
    body["previous_response_id"] = response["id"].clone();
    body["input"] =
        json!([{ "type": "function_call_output", "call_id": item["call_id"], "output": "{\"answer\":21}" }]);
    let second = world.server.post(RESPONSES, &body).await;
    assert_eq!(second.ok()["output"][0]["content"][0]["text"], "It is 42.");
    assert_eq!(second.session(), first.session());
    assert_went_on(&world);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_responses_turn_can_be_told_as_streams_with_the_whole_input_repeated() {
    let world = World::new([cell(PROGRAM), Reply::Text(vec!["It is 42."])]).await;
    let mut body =
        json!({ "model": "codecell", "input": [user("look it up")], "tools": flat_lookup(), "stream": true });
    let events = world.server.post(RESPONSES, &body).await.events();
    let names: Vec<&str> = events.iter().filter_map(|(name, _)| name.as_deref()).collect();
    assert_eq!(
        names,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let item = &events[6].1["response"]["output"][0];
    let output =
        json!({ "type": "function_call_output", "call_id": item["call_id"], "output": "{\"answer\":21}" });
    body["input"] = json!([user("look it up"), item, output]);
    let events = world.server.post(RESPONSES, &body).await.events();
    assert_eq!(events[4].1["delta"], "It is 42.");
    assert_went_on(&world);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_can_wait_for_the_application_more_than_once() {
    let program =
        "let sum = 0; for (const q of ['a', 'b']) sum += (await tools.lookup({ q })).answer; return sum";
    let world = World::new([cell(program), Reply::Text(vec!["done"])]).await;
    let mut body = chat(json!([user("look it up")]));
    body["tools"] = lookup();
    for (q, answer) in [("a", 1), ("b", 2)] {
        let choice = world.server.post(CHAT, &body).await.ok()["choices"][0].take();
        let call = &choice["message"]["tool_calls"][0];
        assert_eq!(call["function"]["arguments"], json!({ "q": q }).to_string());
        let content = json!({ "answer": answer }).to_string();
        body["messages"] = json!([{ "role": "tool", "tool_call_id": call["id"], "content": content }]);
    }
    let last = world.server.post(CHAT, &body).await.ok();
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert_eq!(told(&world)["value"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_code_mode_the_model_calls_the_application_itself() {
    let replies = [
        Reply::Call("lookup", json!({ "q": "x" })),
        Reply::Text(vec!["21."]),
        Reply::Text(vec!["Bye."]),
    ];
    let world = World::direct(replies).await;
    let mut body = chat(json!([user("look it up")]));
    body["tools"] = lookup();
    let message = world.server.post(CHAT, &body).await.ok()["choices"][0]["message"].take();
    let call = message["tool_calls"][0].clone();
    assert_eq!(
        call["function"],
        json!({ "name": "lookup", "arguments": "{\"q\":\"x\"}" })
    );
    let offered = world.provider.seen()[0]["tools"].clone();
    assert_eq!(offered[0]["function"]["name"], "lookup", "{offered}");

    let output = json!({ "role": "tool", "tool_call_id": call["id"], "content": "twenty-one" });
    body["messages"] = json!([user("look it up"), message, output]);
    let answer = world.server.post(CHAT, &body).await.ok()["choices"][0]["message"].take();
    assert_eq!(answer["content"], "21.");
    let result = world.provider.last_messages().pop().unwrap();
    assert!(
        result["content"].as_str().unwrap().contains("twenty-one"),
        "{result}"
    );

    body["messages"] = json!([user("look it up"), message, output, answer, user("bye")]);
    world.server.post(CHAT, &body).await.ok();
    let replayed = world.provider.last_messages();
    let roles: Vec<&Value> = replayed.iter().map(|message| &message["role"]).collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "assistant", "user"],
        "calls of a tool that the model sees are history"
    );
    assert_eq!(replayed[2]["tool_calls"][0]["id"], call["id"]);
    assert_eq!(
        (&replayed[3]["tool_call_id"], &replayed[3]["content"]),
        (&call["id"], &json!("twenty-one"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_cells_are_no_history_for_the_model() {
    let world = World::new([Reply::Text(vec!["Bye."])]).await;
    let call =
        json!({ "id": "call_1", "type": "function", "function": { "name": "lookup", "arguments": "{}" } });
    let mut body = chat(json!([
        user("look it up"),
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "call_1", "content": "21" },
        { "role": "assistant", "content": "21." },
        user("bye"),
    ]));
    body["tools"] = lookup();
    world.server.post(CHAT, &body).await.ok();
    let expected = json!([
        { "role": "system", "content": "You are a test." },
        user("look it up"),
        { "role": "assistant", "content": "21." },
        user("bye"),
    ]);
    assert_eq!(json!(world.provider.last_messages()), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_tool_choice_of_none_no_tool_of_the_application_is_there() {
    let world = World::new([cell("return typeof tools.lookup"), Reply::Text(vec!["ok"])]).await;
    let mut body = chat(json!([user("look it up")]));
    body["tools"] = lookup();
    body["tool_choice"] = json!("none");
    world.server.post(CHAT, &body).await.ok();
    assert_eq!(told(&world)["value"], "undefined");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_cannot_be_used_is_refused() {
    let world = World::new([]).await;
    let mut body = chat(json!([user("hi")]));
    body["tools"] = json!([lookup()[0], lookup()[0]]);
    let answer = world.server.post(CHAT, &body).await;
    assert_eq!(answer.error(), error(400, "invalid_tool", json!("tools")));
}
