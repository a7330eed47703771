//! `previous_response_id`: the conversation is in the transcript.
use serde_json::{Value, json};

use super::provider::{Reply, cell};
use super::server::{Answer, RESPONSES, World, error, flat_lookup, user};

fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

fn after(response: &Answer, input: &str) -> Value {
    json!({ "model": "codecell", "previous_response_id": response.ok()["id"], "input": input })
}

/// What the model was told, without its instructions.
fn told(world: &World) -> Value {
    json!(world.provider.last_messages()[1..])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_goes_on_from_another_also_in_a_new_process() {
    let replies = ["1", "2", "3"].map(|_| Reply::Text(vec!["yes"]));
    let mut world = World::direct(replies).await;
    let body = json!({ "model": "codecell", "input": "one?", "instructions": "Be brief." });
    let first = world.server.post(RESPONSES, &body).await;
    let second = world.server.post(RESPONSES, &after(&first, "two?")).await;
    assert_eq!(second.ok()["previous_response_id"], first.ok()["id"]);
    assert_eq!(second.session(), first.session());
    let expected = [user("one?"), assistant("yes"), user("two?")];
    assert_eq!(told(&world), json!(expected));
    assert_eq!(
        world.provider.last_messages()[0]["content"],
        "You are a test.",
        "instructions are those of one request"
    );
    world.server.restart();
    let third = world.server.post(RESPONSES, &after(&second, "three?")).await;
    assert_eq!(third.session(), first.session());
    let expected = [&expected[..], &[assistant("yes"), user("three?")]].concat();
    assert_eq!(told(&world), json!(expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn going_on_from_the_middle_begins_a_session_of_its_own() {
    let replies = ["1", "2", "3", "4"].map(|_| Reply::Text(vec!["yes"]));
    let world = World::direct(replies).await;
    let body = json!({ "model": "codecell", "input": "one?" });
    let first = world.server.post(RESPONSES, &body).await;
    let second = world.server.post(RESPONSES, &after(&first, "two?")).await;
    let other = world.server.post(RESPONSES, &after(&first, "or?")).await;
    assert_eq!(second.session(), first.session());
    assert_ne!(other.session(), first.session());
    assert_eq!(told(&world), json!([user("one?"), assistant("yes"), user("or?")]));
    let last = world.server.post(RESPONSES, &after(&other, "and?")).await;
    assert_eq!(last.session(), other.session());
    assert_eq!(
        told(&world),
        json!([
            user("one?"),
            assistant("yes"),
            user("or?"),
            assistant("yes"),
            user("and?")
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_response_of_a_turn_means_the_whole_turn() {
    let looks = || cell("return await tools.lookup({ q: 'a' })");
    for goes_on_from_first in [true, false] {
        let world = World::new([looks(), Reply::Text(vec!["found"]), Reply::Text(vec!["bye"])]).await;
        let body = json!({ "model": "codecell", "input": "look", "tools": flat_lookup() });
        let first = world.server.post(RESPONSES, &body).await;
        let call = first.ok()["output"][0]["call_id"].take();
        let mut body = after(&first, "");
        body["input"] = json!([{ "type": "function_call_output", "call_id": call, "output": "1" }]);
        let second = world.server.post(RESPONSES, &body).await;
        assert_ne!(first.ok()["id"], second.ok()["id"]);
        let from = if goes_on_from_first { &first } else { &second };
        let third = world.server.post(RESPONSES, &after(from, "thanks")).await;
        assert_eq!(third.session(), first.session());
        let told = told(&world);
        let roles: Vec<&Value> = told
            .as_array()
            .unwrap()
            .iter()
            .map(|message| &message["role"])
            .collect();
        assert_eq!(
            roles,
            ["user", "assistant", "tool", "assistant", "user"],
            "{told}"
        );
        assert_eq!(
            told[1]["tool_calls"][0]["function"]["name"], "exec",
            "what the cell called is not told"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_message_after_a_response_that_waits_gives_its_turn_up() {
    let world = World::new([
        cell("return await tools.lookup({ q: 'a' })"),
        Reply::Text(vec!["new"]),
    ])
    .await;
    let body = json!({ "model": "codecell", "input": "look", "tools": flat_lookup() });
    let first = world.server.post(RESPONSES, &body).await;
    let next = world.server.post(RESPONSES, &after(&first, "never mind")).await;
    assert_eq!(next.ok()["output"][0]["content"][0]["text"], "new");
    assert_eq!(next.session(), first.session());
    let told = told(&world);
    assert_eq!(
        (&told[0], &told[2]["role"], &told[3]),
        (&user("look"), &json!("tool"), &user("never mind")),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_first_request_tells_of_before_is_kept() {
    let world = World::direct([Reply::Text(vec!["7"]), Reply::Text(vec!["8"])]).await;
    let input = [user("2 + 3?"), assistant("5"), user("3 + 4?")];
    let body = json!({ "model": "codecell", "input": input });
    let first = world.server.post(RESPONSES, &body).await;
    assert_eq!(told(&world), json!(input));
    world.server.post(RESPONSES, &after(&first, "4 + 4?")).await.ok();
    let expected = [&input[..], &[assistant("7"), user("4 + 4?")]].concat();
    assert_eq!(told(&world), json!(expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_is_not_there_is_refused() {
    let world = World::direct([]).await;
    for id in ["resp_1", "resp_0123456789abcdef0123456789abcdef00000000"] {
        let body = json!({ "model": "codecell", "previous_response_id": id, "input": "hi" });
        let answer = world.server.post(RESPONSES, &body).await;
        let expected = error(400, "previous_response_not_found", json!("previous_response_id"));
        assert_eq!(answer.error(), expected);
    }
    assert_eq!(world.provider.seen(), Vec::<Value>::new());
}
