//! What a client is told when the provider fails: a status as long as nothing was told, an event afterwards.
use serde_json::{Value, json};

use super::provider::{Provider, Reply, cell, refuses};
use super::server::{CHAT, RESPONSES, Server, World, chat, config, error, user};

/// Each of the four ways to ask, with whether it is a stream.
fn ways() -> [(&'static str, Value, bool); 4] {
    let chat = |stream: bool| {
        let mut body = chat(json!([user("hi")]));
        body["stream"] = json!(stream);
        body
    };
    let response = |stream: bool| json!({ "model": "codecell", "input": "hi", "stream": stream });
    [
        (CHAT, chat(false), false),
        (CHAT, chat(true), true),
        (RESPONSES, response(false), false),
        (RESPONSES, response(true), true),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_provider_is_a_status_also_for_a_stream() {
    for (reply, expected, code) in [
        (refuses(401), 502, "provider_misconfigured"),
        (refuses(400), 400, "provider_refused_request"),
        (refuses(413), 400, "provider_refused_request"),
        (Reply::Later(429, "77"), 429, "rate_limit_exceeded"),
        (Reply::Later(503, "77"), 502, "provider_error"),
    ] {
        let world = World::direct(vec![reply.clone(); 4]).await;
        for (path, body, _) in ways() {
            let answer = world.server.post(path, &body).await;
            assert_eq!(
                answer.error(),
                error(expected, code, json!(null)),
                "{reply:?} {body}"
            );
            let message = answer.json()["error"]["message"].take();
            assert!(
                message.as_str().unwrap().contains("the provider says no"),
                "{message}"
            );
            if expected == 429 {
                assert_eq!(answer.header("retry-after"), "77");
            }
            // Nothing was done yet, so it may be asked again.
            assert_eq!(answer.headers.get("x-should-retry"), None);
            assert!(answer.session().starts_with("agent:main:http:"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_is_a_status_or_an_event() {
    let world = World::direct(vec![Reply::Cut("So"); 4]).await;
    for (path, body, is_stream) in ways() {
        let answer = world.server.post(path, &body).await;
        if !is_stream {
            assert_eq!(
                answer.error(),
                error(502, "provider_error", json!(null)),
                "{body}"
            );
            continue;
        }
        let (name, last) = answer.events().pop().unwrap();
        if path == CHAT {
            assert_eq!(
                (&last["error"]["code"], &last["error"]["type"]),
                (&json!("provider_error"), &json!("upstream_error"))
            );
        } else {
            assert_eq!(name.as_deref(), Some("response.failed"));
            let response = &last["response"];
            assert_eq!(
                (
                    &response["status"],
                    &response["error"]["code"],
                    &response["output"][0]["status"]
                ),
                (&json!("failed"), &json!("server_error"), &json!("incomplete"))
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_in_a_later_round_is_a_status_while_nothing_was_told() {
    let round = || cell("return 1");
    let replies = (0..4).flat_map(|_| [round(), refuses(400)]);
    let world = World::new(replies).await;
    for (path, body, _) in ways() {
        let answer = world.server.post(path, &body).await;
        assert_eq!(
            answer.error(),
            error(400, "provider_refused_request", json!(null)),
            "{body}"
        );
        assert_eq!(answer.header("x-should-retry"), "false", "the cell ran");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_silent_or_gone_is_a_status() {
    let provider = Provider::start([Reply::Hangs("")]).await;
    let mut config = config(&provider, false);
    config["models"]["providers"]["fake"]["timeoutSeconds"] = json!(1);
    // Nobody listens there: the port is that of a listener that is gone.
    let gone = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    config["models"]["providers"]["gone"] = json!({ "baseUrl": format!("http://{gone}/v1") });
    let server = Server::start(&config);
    for (model, status, code) in [
        ("fake/small", 504, "provider_timeout"),
        ("gone/any", 502, "provider_unreachable"),
    ] {
        let mut body = chat(json!([user("hi")]));
        body["model"] = json!(model);
        let answer = server.post(CHAT, &body).await;
        assert_eq!(answer.error(), error(status, code, json!(null)), "{model}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_works_again_after_a_failure() {
    let replies = [Reply::Cut("So"), Reply::Text(vec!["fine"])];
    let world = World::direct(replies).await;
    let mut body = json!({ "model": "codecell", "input": "hi", "metadata": { "session": "s" } });
    let failed = world.server.post(RESPONSES, &body).await;
    assert_eq!((failed.status, failed.session()), (502, "s"));
    body["input"] = json!("again");
    let answer = world.server.post(RESPONSES, &body).await;
    assert_eq!(answer.ok()["output"][0]["content"][0]["text"], "fine");
}
