//! One turn at a time, and what becomes of it when its client goes.
use serde_json::json;

use super::provider::{Reply, cell};
use super::server::{Answer, CHAT, PATIENCE, World, chat, error, lookup, user};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_one_turn_at_a_time() {
    let world = World::direct([Reply::Hangs(""), Reply::Text(&["other"])]).await;
    let body = chat(json!([user("hi")]));
    let first = tokio::spawn(world.server.chat_in("s", &body).send());
    world.provider.asked().await;
    let second = Answer::to(world.server.chat_in("s", &body)).await;
    assert_eq!(second.error(), error(409, "session_busy", json!(null)));
    assert_eq!(second.session(), "s");
    let elsewhere = Answer::to(world.server.chat_in("t", &body)).await;
    assert_eq!(elsewhere.ok()["choices"][0]["message"]["content"], "other");
    first.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_takes_its_turn_with_it() {
    for stream in [false, true] {
        let world = World::direct([Reply::Hangs(""), Reply::Text(&["back"])]).await;
        let mut body = chat(json!([user("hi")]));
        body["stream"] = json!(stream);
        let request = tokio::spawn(world.server.chat_in("s", &body).send());
        world.provider.asked().await;
        request.abort();
        world.provider.left().await;
        let next = Answer::to(world.server.chat_in("s", &chat(json!([user("hi")])))).await;
        assert_eq!(
            next.ok()["choices"][0]["message"]["content"],
            "back",
            "stream: {stream}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_in_the_middle_of_a_stream_takes_its_turn_with_it() {
    let world = World::direct([Reply::Hangs("Well"), Reply::Text(&["back"])]).await;
    let mut body = chat(json!([user("hi")]));
    body["stream"] = json!(true);
    let mut response = world.server.chat_in("s", &body).send().await.unwrap();
    let mut heard = String::new();
    while !heard.contains("Well") {
        let piece = tokio::time::timeout(PATIENCE, response.chunk()).await.unwrap();
        heard.push_str(str::from_utf8(&piece.unwrap().unwrap()).unwrap());
    }
    drop(response);
    world.provider.left().await;
    let next = Answer::to(world.server.chat_in("s", &chat(json!([user("hi")])))).await;
    assert_eq!(next.ok()["choices"][0]["message"]["content"], "back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_takes_its_cell_with_it() {
    let world = World::new([
        cell("while (true) { await yield_control() }"),
        Reply::Text(&["back"]),
    ])
    .await;
    let body = chat(json!([user("hi")]));
    let request = tokio::spawn(world.server.chat_in("s", &body).send());
    world.provider.asked().await;
    request.abort();
    // The session is free as soon as nothing of the turn is left.
    let next = Answer::to(world.server.chat_in("s", &body));
    let next = tokio::time::timeout(PATIENCE, next).await.unwrap();
    assert!(matches!(next.status, 200 | 409), "{next:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waits_gives_way_to_a_new_message() {
    let world = World::new([
        cell("return await tools.lookup({ q: 'a' })"),
        Reply::Text(&["new"]),
    ])
    .await;
    let mut body = chat(json!([user("look it up")]));
    body["tools"] = lookup();
    let first = Answer::to(world.server.chat_in("s", &body)).await;
    let call = first.ok()["choices"][0]["message"]["tool_calls"][0]["id"].take();
    let next = Answer::to(world.server.chat_in("s", &chat(json!([user("never mind")])))).await;
    assert_eq!(next.ok()["choices"][0]["message"]["content"], "new");
    let output = json!([{ "role": "tool", "tool_call_id": call, "content": "1" }]);
    let late = world.server.post(CHAT, &chat(output)).await;
    assert_eq!(
        late.error(),
        error(400, "unknown_tool_call", json!("messages[0].tool_call_id"))
    );
}
