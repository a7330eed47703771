//! Requests that are no use.
use serde_json::{Value, json};

use super::provider::Provider;
use super::server::{Answer, CHAT, RESPONSES, Server, World, chat, config, error, user};

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_request_is_told_what_is_wrong() {
    let world = World::direct([]).await;
    let server = &world.server;
    for path in [CHAT, RESPONSES] {
        let broken = Answer::to(server.raw(path, "{ \"model\":")).await;
        assert_eq!(broken.error(), error(400, "invalid_json", Value::Null));
        let list = Answer::to(server.raw(path, "[]")).await;
        assert_eq!(list.error(), error(400, "invalid_json", Value::Null));
        let form = server.raw(path, "a=b").header("content-type", "text/plain");
        assert_eq!(
            Answer::to(form).await.error(),
            error(415, "unsupported_media_type", Value::Null)
        );
        let empty = server.post(path, &json!({})).await;
        assert_eq!(
            empty.error(),
            error(400, "missing_required_parameter", json!("model"))
        );
        let get = server.get(path).await;
        assert_eq!(get.error(), error(405, "wrong_method", Value::Null));
    }
    let mut body = chat(json!([user("hi")]));
    body["model"] = json!("nobody/nothing");
    assert_eq!(
        server.post(CHAT, &body).await.error(),
        error(404, "model_not_found", json!("model"))
    );
    let long = server.chat_in(&"a".repeat(201), &chat(json!([user("hi")])));
    assert_eq!(
        Answer::to(long).await.error(),
        error(400, "invalid_session", json!("x-codecell-session"))
    );
    assert_eq!(world.provider.seen(), Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_over_the_limit_is_refused_and_its_sender_hears_so() {
    let provider = Provider::start([]).await;
    let mut config = config(&provider, false);
    config["serve"] = json!({ "maxBodyBytes": 1024 });
    let server = Server::start(&config);
    for bytes in [1_025, 8 << 20] {
        let body = chat(json!([user(&"a".repeat(bytes))]));
        let answer = server.post(CHAT, &body).await;
        assert_eq!(
            answer.error(),
            error(413, "request_too_large", Value::Null),
            "{bytes}"
        );
    }
}
