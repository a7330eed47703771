//! Requests that get no further than the transport.
use axum::http::Method;
use serde_json::json;

use super::client::{Client, Gateway, LEGACY};
use super::place::Place;
use super::server::{Send, Server};

fn list() -> String {
    json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" }).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_told_why() {
    let gateway = Gateway::plain().await;
    let client = Client::legacy(&gateway.server).await;
    for (body, expected) in [
        ("", (400, -32700)),
        ("  \n", (400, -32700)),
        ("{", (400, -32700)),
        ("[{]", (400, -32700)),
        ("\u{1}", (400, -32700)),
        ("null", (400, -32600)),
        ("42", (400, -32600)),
        ("{}", (400, -32600)),
        (r#"{"jsonrpc":"2.0"}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, (400, -32600)),
    ] {
        let answer = client.post_text(body).await;
        assert_eq!(answer.error(), expected, "{body}");
        let id = answer.message().get("id").cloned();
        assert_eq!(id, body.contains(r#""id":5"#).then(|| json!(5)), "{body}");
    }
    // Nothing depends on a notification being understood, and an answer to no question is none of ours.
    for body in [
        r#"{"jsonrpc":"2.0","method":7}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
    ] {
        assert_eq!(client.post_text(body).await.status, 202, "{body}");
    }
    assert_eq!(client.exec("return 1").await["value"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_says_what_it_brings_and_what_it_takes() {
    let gateway = Gateway::plain().await;
    let client = Client::legacy(&gateway.server).await;
    let both = "application/json, text/event-stream";
    for (kind, accept, expected) in [
        ("application/json", both, 200),
        (
            "application/json; charset=utf-8",
            "TEXT/event-stream , application/json;q=0.5",
            200,
        ),
        ("application/json", "*/*", 200),
        ("application/json", "application/*, text/*", 200),
        ("application/json", "application/json", 406),
        ("application/json", "text/event-stream", 406),
        ("application/json", "application/json, text/event-stream;q=0", 406),
        ("text/plain", both, 415),
        ("application/jsonl", both, 415),
    ] {
        let request = client.build(Method::POST).header("content-type", kind);
        let response = request
            .header("accept", accept)
            .body(list())
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), expected, "{kind} {accept}");
        response.text().await.unwrap();
    }
    let response = client
        .build(Method::GET)
        .header("accept", "application/json")
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 406);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_to_be_named_and_to_be_there() {
    let gateway = Gateway::plain().await;
    let known = Client::legacy(&gateway.server).await.session;
    let cases: [(Option<&str>, Option<&'static str>, u16); 7] = [
        (known.as_deref(), Some(LEGACY), 200),
        (known.as_deref(), None, 200),
        (known.as_deref(), Some("2025-03-26"), 200),
        (known.as_deref(), Some("1999-01-01"), 400),
        (known.as_deref(), Some("2026-07-28"), 400),
        (None, Some(LEGACY), 400),
        (Some("no-such-session"), Some(LEGACY), 404),
    ];
    for (session, version, expected) in cases {
        let mut client = Client::new(&gateway.server);
        client.session = session.map(str::to_owned);
        client.version = version;
        let answer = client.post_text(&list()).await;
        assert_eq!(answer.status.as_u16(), expected, "{session:?} {version:?}");
        if expected != 200 {
            assert_eq!(answer.message()["id"], 5);
        }
        // Without messages there is no other sign of the modern era than the header.
        let expected = if version == Some("2026-07-28") {
            405
        } else {
            expected
        };
        let listening = client.listen(None).await;
        assert_eq!(listening.status(), expected, "GET {session:?} {version:?}");
        if expected != 200 {
            assert_eq!(
                client.delete().await.status,
                expected,
                "DELETE {session:?} {version:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_happens_once_and_says_one_thing() {
    let gateway = Gateway::plain().await;
    let hello = |version: &str| json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let client = Client::legacy(&gateway.server).await;
    assert_eq!(
        client.request("initialize", hello(LEGACY)).await.error(),
        (400, -32600)
    );
    let mut new = Client::new(&gateway.server);
    new.version = Some("2025-06-18");
    assert_eq!(
        new.request("initialize", hello(LEGACY)).await.error(),
        (400, -32600)
    );
    assert_eq!(new.request("initialize", hello("2025-06-18")).await.status, 200);
    new.session = Some("no-such-session".into());
    assert_eq!(
        new.request("initialize", hello("2025-06-18")).await.error(),
        (404, -32600)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_come_in_is_kept_out_here_too() {
    let place = Place::new(&json!({ "serve": { "token": "t", "allowedHosts": ["gateway.example"] } }));
    let server = Server::start(&place, &[]).await;
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" }
    } })
    .to_string();
    for (header, value, expected) in [
        ("host", "gateway.example", 200),
        ("host", "evil.example", 403),
        ("origin", "http://localhost:3000", 200),
        ("origin", "https://evil.example", 403),
        ("authorization", "Bearer wrong", 401),
    ] {
        let mut headers = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            (header, value),
        ];
        if header != "authorization" {
            headers.push(("authorization", "Bearer t"));
        }
        let send = Send {
            headers: &headers,
            body: Some(hello.clone()),
        };
        let answer = server.send(Method::POST, "/mcp", send).await;
        assert_eq!(answer.status, expected, "{header}: {value}");
        assert_eq!(answer.headers.contains_key("mcp-session-id"), expected == 200);
    }
    let put = server.send(
        Method::PUT,
        "/mcp",
        Send {
            headers: &[("authorization", "Bearer t")],
            body: None,
        },
    );
    assert_eq!(put.await.status, 405);
}
