//! One turn at a time, and what becomes of it when its client goes.
use serde_json::json;

use super::provider::{Provider, Reply, cell};
use super::server::{Answer, CHAT, PATIENCE, Server, World, chat, config, error, lookup, user};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_one_turn_at_a_time() {
    let world = World::direct([Reply::Hangs(""), Reply::Text(vec!["other"])]).await;
    let body = chat(json!([user("hi")]));
    let first = tokio::spawn(world.server.chat_in("s", &body).send());
    world.provider.asked(1).await;
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
        let world = World::direct([Reply::Hangs(""), Reply::Text(vec!["back"])]).await;
        let mut body = chat(json!([user("hi")]));
        body["stream"] = json!(stream);
        let request = tokio::spawn(world.server.chat_in("s", &body).send());
        world.provider.asked(1).await;
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
    let world = World::direct([Reply::Hangs("Well"), Reply::Text(vec!["back"])]).await;
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
    let provider = Provider::start([cell("while (true) {}"), Reply::Text(vec!["back"])]).await;
    let mut config = config(&provider, true);
    config["tools"]["codeMode"] = json!({ "enabled": true, "timeoutMs": 60_000 });
    let server = Server::start(&config);
    let body = chat(json!([user("hi")]));
    let request = tokio::spawn(server.chat_in("s", &body).send());
    while server.get("/runs").await.ok()["liveVms"] != 1 {
        tokio::task::yield_now().await;
    }
    request.abort();
    // The session is not free before the cell is gone.
    while Answer::to(server.chat_in("s", &body)).await.status != 200 {
        tokio::task::yield_now().await;
    }
    let runs = server.get("/runs").await.ok();
    assert_eq!(runs, json!({ "runs": [], "suspendedCells": 0, "liveVms": 0 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waits_gives_way_to_a_new_message() {
    let world = World::new([
        cell("return await tools.lookup({ q: 'a' })"),
        Reply::Text(vec!["new"]),
    ])
    .await;
    let mut body = chat(json!([user("look it up")]));
    body["tools"] = lookup();
    let first = Answer::to(world.server.chat_in("s", &body)).await;
    let call = first.ok()["choices"][0]["message"]["tool_calls"][0]["id"].take();
    let next = Answer::to(world.server.chat_in("s", &chat(json!([user("never mind")])))).await;
    assert_eq!(next.ok()["choices"][0]["message"]["content"], "new");
    let output = json!([{ "role": "tool", "tool_call_id": call, "content": "1" }]);
    let runs = world.server.get("/runs").await.ok();
    assert_eq!(
        runs,
        json!({ "runs": [], "suspendedCells": 0, "liveVms": 0 }),
        "its cell is gone"
    );
    let late = world.server.post(CHAT, &chat(output)).await;
    assert_eq!(
        late.error(),
        error(400, "unknown_tool_call", json!("messages[0].tool_call_id"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_does_not_wait_for_its_application_for_ever() {
    let provider = Provider::start([cell("return await tools.lookup({ q: 'a' })")]).await;
    let mut config = config(&provider, true);
    config["tools"]["codeMode"] = json!({ "enabled": true, "snapshotTtlSeconds": 1 });
    let server = Server::start(&config);
    let mut body = chat(json!([user("look it up")]));
    body["tools"] = lookup();
    let call = server.post(CHAT, &body).await.ok()["choices"][0]["message"]["tool_calls"][0]["id"].take();
    let over = json!({ "runs": [], "suspendedCells": 0, "liveVms": 0 });
    while server.get("/runs").await.ok() != over {
        tokio::task::yield_now().await;
    }
    let output = json!([{ "role": "tool", "tool_call_id": call, "content": "1" }]);
    let late = server.post(CHAT, &chat(output)).await;
    assert_eq!(
        late.error(),
        error(400, "unknown_tool_call", json!("messages[0].tool_call_id"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_somebody_aborts_tells_its_client() {
    let world = World::direct([Reply::Hangs("So"), Reply::Hangs("So")]).await;
    for (times, stream) in [(1, false), (2, true)] {
        let mut body = chat(json!([user("hi")]));
        body["stream"] = json!(stream);
        let request = tokio::spawn(Answer::to(world.server.chat_in("s", &body)));
        world.provider.asked(times).await;
        let run = world.server.get("/runs").await.ok()["runs"][0]["id"].take();
        assert_eq!(
            world
                .server
                .delete(&format!("/runs/{}", run.as_str().unwrap()))
                .await,
            200
        );
        let answer = request.await.unwrap();
        if stream && answer.status == 200 {
            let (_, last) = answer.events().pop().unwrap();
            assert_eq!(last["error"]["code"], "turn_aborted");
        } else {
            assert_eq!(answer.error(), error(499, "turn_aborted", json!(null)));
        }
    }
}
