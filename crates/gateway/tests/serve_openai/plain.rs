//! Turns without the application's tools.
use serde_json::{Value, json};

use super::provider::{Reply, cell, refuses};
use super::server::{Answer, CHAT, RESPONSES, World, chat, error, user};

/// The answer with what differs each time taken out, after a look at it.
fn tidy(mut answer: Value, prefix: &str, created: &str) -> Value {
    let id = answer["id"].take();
    let hex = id.as_str().unwrap().strip_prefix(prefix).unwrap();
    assert!(
        hex.len() == 40 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{id}"
    );
    assert!(answer[created].take().as_u64().unwrap() > 1_700_000_000);
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_completion_tells_what_the_model_said() {
    let world = World::direct([Reply::Text(vec!["Hel", "lo"])]).await;
    let mut body = chat(json!([{ "role": "system", "content": "Be brief." }, user("hi")]));
    body["max_tokens"] = json!(50);
    body["temperature"] = json!(0.5);
    let answer = world.server.post(CHAT, &body).await;
    assert_eq!(
        tidy(answer.ok(), "chatcmpl-", "created"),
        json!({
            "id": null,
            "object": "chat.completion",
            "created": null,
            "model": "codecell",
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": "Hello", "refusal": null },
                "logprobs": null,
                "finish_reason": "stop",
            }],
            "usage": {
                "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12,
                "prompt_tokens_details": { "cached_tokens": 4 },
            },
            "system_fingerprint": null,
        })
    );
    assert!(answer.session().starts_with("agent:main:http:"), "{answer:?}");
    let seen = world.provider.seen();
    assert_eq!(
        (&seen[0]["model"], &seen[0]["messages"], &seen[0]["temperature"]),
        (
            &json!("small"),
            &json!([
                { "role": "system", "content": "You are a test.\n\nBe brief." },
                { "role": "user", "content": "hi" },
            ]),
            &json!(0.5),
        )
    );
    assert!(
        [&seen[0]["max_tokens"], &seen[0]["max_completion_tokens"]].contains(&&json!(50)),
        "{seen:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_tells_text_as_it_comes_and_sets_rounds_apart() {
    let looks = Reply::SaysAndCalls("Let me see.", "exec", json!({ "code": "return 6 * 7" }));
    let world = World::new([looks, Reply::Text(vec!["It is", " 42."])]).await;
    let mut body = chat(json!([user("what is it?")]));
    body["stream"] = json!(true);
    body["stream_options"] = json!({ "include_usage": true });
    let answer = world.server.post(CHAT, &body).await;
    let mut events = answer.events();
    assert_eq!(events.pop(), Some((None, json!("[DONE]"))));
    let deltas: Vec<&Value> = events
        .iter()
        .map(|(_, data)| &data["choices"][0]["delta"]["content"])
        .collect();
    assert_eq!(
        json!(deltas),
        json!(["", "Let me see.", "\n\nIt is", " 42.", null, null])
    );
    let (_, last) = events.pop().unwrap();
    assert_eq!(
        (
            &last["choices"],
            &last["usage"]["prompt_tokens"],
            &last["usage"]["total_tokens"]
        ),
        (&json!([]), &json!(20), &json!(24)),
        "both rounds"
    );
    assert_eq!(events.pop().unwrap().1["choices"][0]["finish_reason"], "stop");
    assert!(!answer.session().is_empty());
    let result = world.provider.last_messages().pop().unwrap();
    assert!(result["content"].as_str().unwrap().contains("42"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_has_a_message_for_each_round_that_says_something() {
    let looks = Reply::SaysAndCalls("Let me see.", "exec", json!({ "code": "return 6 * 7" }));
    let world = World::new([looks, cell("return 1"), Reply::Text(vec!["It is", " 42."])]).await;
    let body = json!({ "model": "codecell", "input": "what is it?", "instructions": "Be brief." });
    let answer = world.server.post(RESPONSES, &body).await;
    let mut response = tidy(answer.ok(), "resp_", "created_at");
    for item in response["output"].as_array_mut().unwrap() {
        assert!(item["id"].take().as_str().unwrap().starts_with("msg_"));
    }
    let message = |text: &str| {
        json!({
            "id": null, "type": "message", "status": "completed", "role": "assistant",
            "content": [{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }],
        })
    };
    assert_eq!(
        response,
        json!({
            "id": null,
            "object": "response",
            "created_at": null,
            "status": "completed",
            "error": null,
            "incomplete_details": null,
            "output": [message("Let me see."), message("It is 42.")],
            "usage": {
                "input_tokens": 30, "input_tokens_details": { "cached_tokens": 12, "cache_write_tokens": 0 },
                "output_tokens": 6, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 36,
            },
            "model": "codecell",
            "instructions": "Be brief.",
            "previous_response_id": null,
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": true,
            "max_output_tokens": null,
            "temperature": null,
            "top_p": null,
            "text": { "format": { "type": "text" } },
            "reasoning": { "effort": null, "summary": null },
            "truncation": "disabled",
            "background": false,
            "store": true,
            "metadata": {},
        })
    );
    assert!(answer.session().starts_with("agent:main:http:"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_stream_ends_with_the_whole_response() {
    let world = World::direct([Reply::Text(vec!["Hel", "lo"])]).await;
    let body = json!({ "model": "codecell", "input": [user("hi")], "stream": true });
    let events = world.server.post(RESPONSES, &body).await.events();
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_deref().unwrap()).collect();
    assert_eq!(
        names,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    for (at, (name, data)) in events.iter().enumerate() {
        assert_eq!(
            (&data["type"], &data["sequence_number"]),
            (&json!(name), &json!(at))
        );
    }
    let (first, last) = (&events[0].1["response"], &events[9].1["response"]);
    assert_eq!(
        (&first["id"], &first["status"], &first["usage"]),
        (&last["id"], &json!("in_progress"), &Value::Null)
    );
    assert_eq!(
        (&last["status"], &last["output"][0]["content"][0]["text"]),
        (&json!("completed"), &json!("Hello"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_cut_or_refused_says_so() {
    let replies = [
        Reply::Ends("so", "length"),
        Reply::Ends("so", "length"),
        Reply::Ends("so", "content_filter"),
        Reply::Ends("so", "content_filter"),
    ];
    let world = World::direct(replies).await;
    for (finish, reason) in [
        ("length", "max_output_tokens"),
        ("content_filter", "content_filter"),
    ] {
        let choice = world.server.post(CHAT, &chat(json!([user("hi")]))).await.ok()["choices"][0].take();
        assert_eq!(
            (&choice["finish_reason"], &choice["message"]["content"]),
            (&json!(finish), &json!("so"))
        );
        let body = json!({ "model": "codecell", "input": "hi" });
        let response = world.server.post(RESPONSES, &body).await.ok();
        assert_eq!(
            (
                &response["status"],
                &response["incomplete_details"],
                &response["output"][0]["content"][0]["text"]
            ),
            (&json!("incomplete"), &json!({ "reason": reason }), &json!("so"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_name_of_a_model_means_an_agent_and_a_model() {
    let world = World::direct([
        Reply::Text(vec!["a"]),
        Reply::Text(vec!["b"]),
        Reply::Text(vec!["c"]),
    ])
    .await;
    let models = world.server.get("/v1/models").await.ok();
    let model =
        |id: &str, owner: &str| json!({ "id": id, "object": "model", "created": 0, "owned_by": owner });
    let listed = json!([
        model("codecell", "codecell"),
        model("codecell/reviewer", "codecell"),
        model("fake/small", "fake"),
        model("fake/big", "fake"),
    ]);
    assert_eq!(models, json!({ "object": "list", "data": listed }));
    for one in listed.as_array().unwrap() {
        let path = format!("/v1/models/{}", one["id"].as_str().unwrap());
        assert_eq!(world.server.get(&path).await.ok(), *one);
    }
    let missing = world.server.get("/v1/models/other").await;
    assert_eq!(missing.error(), error(404, "model_not_found", json!("model")));
    for (name, asked, agent) in [
        ("codecell", "small", "main"),
        ("codecell/reviewer", "big", "reviewer"),
        ("fake/big", "big", "main"),
    ] {
        let mut body = chat(json!([user("hi")]));
        body["model"] = json!(name);
        let answer = world.server.post(CHAT, &body).await;
        assert_eq!(answer.ok()["model"], name);
        assert!(answer.session().starts_with(&format!("agent:{agent}:http:")));
        assert_eq!(world.provider.seen().last().unwrap()["model"], asked);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_can_be_named() {
    let world = World::direct([Reply::Text(vec!["a"]), Reply::Text(vec!["b"]), refuses(400)]).await;
    let mut body = chat(json!([user("hi")]));
    let named = Answer::to(world.server.chat_in("mine", &body)).await;
    assert_eq!((named.status, named.session()), (200, "mine"));
    body["metadata"] = json!({ "session": "yours" });
    let named = world.server.post(CHAT, &body).await;
    assert_eq!((named.status, named.session()), (200, "yours"));
    let failed = world.server.post(CHAT, &body).await;
    assert_eq!(
        (failed.status, failed.session()),
        (400, "yours"),
        "errors tell it too"
    );
}
