//! Streamable HTTP, against a small server on loopback that does as each test says.
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State as Extract,
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use codecell_gateway::{
    config::{Secret, ServerConfig, Transport},
    upstream::{CallError, CallOptions, Era, State},
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::*;

/// A request as the server saw it.
#[derive(Debug, Clone)]
struct Seen {
    verb: Method,
    headers: HeaderMap,
    body: Value,
}

impl Seen {
    fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or("")
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The answer to this request.
    fn answer(&self, result: Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.body["id"], "result": result })
    }
}

type Handler = Arc<dyn Fn(&Seen) -> Response + Send + Sync>;

#[derive(Clone)]
struct Endpoint {
    seen: Arc<Mutex<Vec<Seen>>>,
    handler: Handler,
    address: SocketAddr,
}

impl Endpoint {
    async fn start(handler: impl Fn(&Seen) -> Response + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let endpoint = Self {
            seen: Arc::default(),
            handler: Arc::new(handler),
            address,
        };
        let router = Router::new().fallback(handle).with_state(endpoint.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        endpoint
    }

    fn server(&self) -> ServerConfig {
        server(&format!("http://{}/mcp", self.address))
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    fn count(&self, method: &str) -> usize {
        self.seen().iter().filter(|seen| seen.method() == method).count()
    }
}

fn server(url: &str) -> ServerConfig {
    let headers = [("Authorization".to_owned(), Secret::new("Bearer t0k"))].into();
    ServerConfig::new(
        "fake",
        Transport::Http {
            url: Secret::new(url),
            headers,
        },
    )
}

async fn handle(
    Extract(endpoint): Extract<Endpoint>,
    verb: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let seen = Seen {
        verb,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    };
    endpoint.seen.lock().unwrap().push(seen.clone());
    (endpoint.handler)(&seen)
}

fn json_response(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn refuse(seen: &Seen, status: StatusCode) -> Response {
    let error =
        json!({ "jsonrpc": "2.0", "id": seen.body["id"], "error": { "code": -32601, "message": "no" } });
    (
        status,
        [(header::CONTENT_TYPE, "application/json")],
        error.to_string(),
    )
        .into_response()
}

fn events(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

fn tools() -> Value {
    json!({ "tools": [
        { "name": "echo", "inputSchema": { "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" } } } },
        { "name": "bad", "inputSchema": { "properties": { "p": { "type": "array", "x-mcp-header": "P" } } } },
    ] })
}

/// A modern server that answers with plain JSON.
fn modern(seen: &Seen) -> Response {
    let result = match seen.method() {
        "server/discover" => {
            json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
        }
        "tools/list" => tools(),
        "tools/call" => {
            json!({ "resultType": "complete", "content": [], "structuredContent": seen.body["params"]["arguments"] })
        }
        _ => return refuse(seen, StatusCode::NOT_FOUND),
    };
    json_response(&seen.answer(result))
}

/// A legacy server with a session that answers with streams.
fn legacy(seen: &Seen, session: &str) -> Response {
    let result = match (&seen.verb, seen.method()) {
        (&Method::GET, _) | (&Method::DELETE, _) => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
        (_, "server/discover") => return refuse(seen, StatusCode::BAD_REQUEST),
        (_, "initialize") => json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} } }),
        (_, "tools/list") => tools(),
        (_, "tools/call") => json!({ "content": [], "structuredContent": seen.body["params"]["arguments"] }),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    if seen.method() != "initialize" && seen.header("mcp-session-id") != session {
        return StatusCode::NOT_FOUND.into_response();
    }
    let mut response = events(format!("event: message\ndata: {}\n\n", seen.answer(result)));
    if seen.method() == "initialize" {
        response
            .headers_mut()
            .insert("mcp-session-id", session.parse().unwrap());
    }
    response
}

#[tokio::test]
async fn modern_requests_carry_their_headers_and_bad_annotations_cost_their_tool() {
    let endpoint = Endpoint::start(modern).await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    let server = view(&upstreams, "fake");
    assert_eq!(
        (server.state.clone(), server.era),
        (State::Ready, Some(Era::Modern))
    );
    assert_eq!(tool_names(&server), ["echo"]);
    assert_eq!(
        server.quarantined[0].reason,
        "x-mcp-header `P` of `p` is not on a string, integer or boolean"
    );
    let result = call(&upstreams, "echo", r#"{"region":"eu ü"}"#).await.unwrap();
    assert_eq!(result, r#"{"content":[],"structuredContent":{"region":"eu ü"}}"#);
    let seen = endpoint.seen();
    assert_eq!(
        seen.iter()
            .map(|seen| (seen.method(), seen.header("mcp-method")))
            .collect::<Vec<_>>(),
        [
            ("server/discover", "server/discover"),
            ("tools/list", "tools/list"),
            ("tools/call", "tools/call")
        ]
    );
    let last = &seen[2];
    assert_eq!(
        [
            last.header("mcp-name"),
            last.header("mcp-param-region"),
            last.header("authorization")
        ],
        ["echo", "=?base64?ZXUgw7w=?=", "Bearer t0k"]
    );
    for seen in &seen {
        assert_eq!(seen.header("mcp-protocol-version"), "2026-07-28");
        assert_eq!(
            seen.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        assert_eq!(seen.header("accept"), "application/json, text/event-stream");
    }
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_server_that_refuses_a_revision_it_supports_is_asked_again() {
    let refused = Mutex::new(false);
    let endpoint = Endpoint::start(move |seen| {
        if !std::mem::replace(&mut *refused.lock().unwrap(), true) {
            let error = json!({ "code": -32022, "message": "no", "data": { "supported": ["2026-07-28"] } });
            let body = json!({ "jsonrpc": "2.0", "id": seen.body["id"], "error": error }).to_string();
            return (
                StatusCode::BAD_REQUEST,
                [(header::CONTENT_TYPE, "application/json")],
                body,
            )
                .into_response();
        }
        modern(seen)
    })
    .await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    assert_eq!(view(&upstreams, "fake").era, Some(Era::Modern));
    assert_eq!(
        (endpoint.count("server/discover"), endpoint.count("initialize")),
        (2, 0)
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_legacy_session_is_kept_and_ended() {
    let endpoint = Endpoint::start(|seen| legacy(seen, "s-1")).await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    assert_eq!(
        tool_names(&view(&upstreams, "fake")),
        ["echo", "bad"],
        "annotations mean nothing in this era"
    );
    assert_eq!(
        call(&upstreams, "echo", r#"{"a":1}"#).await.unwrap(),
        r#"{"content":[],"structuredContent":{"a":1}}"#
    );
    upstreams.shutdown().await;
    let seen = endpoint.seen();
    let called = seen.iter().find(|seen| seen.method() == "tools/call").unwrap();
    assert_eq!(
        [
            called.header("mcp-session-id"),
            called.header("mcp-protocol-version")
        ],
        ["s-1", "2025-06-18"]
    );
    let last = seen.last().unwrap();
    assert_eq!(
        (&last.verb, last.header("mcp-session-id")),
        (&Method::DELETE, "s-1")
    );
}

#[tokio::test]
async fn a_forgotten_session_is_opened_anew_and_the_call_made_once() {
    let session = Arc::new(Mutex::new("s-1"));
    let current = Arc::clone(&session);
    let endpoint = Endpoint::start(move |seen| legacy(seen, *current.lock().unwrap())).await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    *session.lock().unwrap() = "s-2";
    call(&upstreams, "echo", "{}").await.unwrap();
    assert_eq!(
        (endpoint.count("initialize"), endpoint.count("tools/call")),
        (2, 2),
        "refused, then run"
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_server_that_wants_credentials_blocks_nobody() {
    let endpoint = Endpoint::start(|_| {
        (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, "Bearer realm=\"mcp\"")],
        )
            .into_response()
    })
    .await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    let state = State::NeedsAuth {
        reason: "HTTP 401: Bearer realm=\"mcp\"".into(),
    };
    assert_eq!(view(&upstreams, "fake").state, state);
    let error = call(&upstreams, "echo", "{}").await.unwrap_err().to_string();
    assert_eq!(
        error,
        "MCP server `fake` is not available: it needs credentials (HTTP 401: Bearer realm=\"mcp\"), set them in its `headers`"
    );
    assert_eq!(
        endpoint.count("initialize"),
        0,
        "a refusal for want of credentials is no sign of an era"
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn the_body_of_an_http_error_is_reachable_and_bounded() {
    let endpoint = Endpoint::start(|seen| match seen.method() {
        "tools/call" => (
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("field x {}", "!".repeat(100_000)),
        )
            .into_response(),
        _ => modern(seen),
    })
    .await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    let error = call(&upstreams, "echo", "{}").await.unwrap_err();
    let CallError::Http {
        status: 422, body, ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(
        body.starts_with("field x !!!") && body.len() < 3_000,
        "{}",
        body.len()
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_cut_answer_of_the_old_era_is_picked_up_where_it_was() {
    let id = Arc::new(Mutex::new(Value::Null));
    let endpoint = Endpoint::start(move |seen| match (&seen.verb, seen.method()) {
        (&Method::GET, _) if seen.header("last-event-id") == "e-1" => {
            let answer =
                json!({ "jsonrpc": "2.0", "id": *id.lock().unwrap(), "result": { "content": ["late"] } });
            events(format!("id: e-2\ndata: {answer}\n\n"))
        }
        (_, "tools/call") => {
            *id.lock().unwrap() = seen.body["id"].clone();
            events("id: e-1\nretry: 10\ndata:\n\n".to_owned())
        }
        _ => legacy(seen, "s-1"),
    })
    .await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    assert_eq!(
        call(&upstreams, "echo", "{}").await.unwrap(),
        r#"{"content":["late"]}"#
    );
    assert_eq!(endpoint.count("tools/call"), 1);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_in_doubt() {
    let endpoint = Endpoint::start(|seen| match seen.method() {
        "tools/call" => events("data: {\n\n".to_owned()),
        _ => modern(seen),
    })
    .await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    let error = call(&upstreams, "echo", "{}").await.unwrap_err();
    assert!(error.in_doubt());
    assert_eq!(
        error.to_string(),
        "MCP server `fake` ended its answer early while the request was running (`tools/call`); \
         its effect is in doubt, so check before repeating it"
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn credentials_do_not_follow_a_redirect_to_another_host() {
    let other = Endpoint::start(modern).await;
    let elsewhere = format!("http://{}/mcp", other.address);
    let endpoint = Endpoint::start(move |_| {
        (
            StatusCode::TEMPORARY_REDIRECT,
            [(header::LOCATION, elsewhere.clone())],
        )
            .into_response()
    })
    .await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    let State::Failed { reason } = view(&upstreams, "fake").state else {
        panic!("followed")
    };
    assert_eq!(
        reason,
        "answered `initialize` with HTTP 307; redirects to other hosts are not followed, so put the final URL into the configuration"
    );
    assert!(other.seen().is_empty());
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_redirect_within_the_host_is_followed() {
    let endpoint = Endpoint::start(modern).await;
    let address = endpoint.address;
    let front = Router::new().route(
        "/mcp",
        axum::routing::any(|| async { (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, "/mcp/")]) }),
    );
    let front = front.fallback(handle).with_state(endpoint.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, front).await.unwrap() });
    let upstreams = settled(vec![server(&url)], options()).await;
    assert_eq!(view(&upstreams, "fake").state, State::Ready, "{address}");
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_server_nobody_listens_at_fails_at_once() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?token=hunter2", listener.local_addr().unwrap());
    drop(listener);
    let upstreams = settled(vec![server(&url)], options()).await;
    let State::Failed { reason } = view(&upstreams, "fake").state else {
        panic!("connected")
    };
    assert!(
        reason.starts_with("cannot be reached: ") && !reason.contains("hunter2"),
        "{reason}"
    );
    upstreams.shutdown().await;
}

/// A stream that tells when the client closes it.
fn open_stream(first: String, closed: mpsc::UnboundedSender<()>) -> Response {
    struct Told(mpsc::UnboundedSender<()>);
    impl Drop for Told {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let told = Told(closed);
    let stream = futures_util::stream::unfold((Some(first), told), |(first, told)| async move {
        match first {
            Some(text) => Some((Ok::<_, std::io::Error>(text), (None, told))),
            None => std::future::pending().await,
        }
    });
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(stream),
    )
        .into_response()
}

#[tokio::test]
async fn cancelling_a_modern_call_closes_its_stream() {
    let (closed, mut told) = mpsc::unbounded_channel();
    let endpoint = Endpoint::start(move |seen| match seen.method() {
        "tools/call" => open_stream(": open\n\n".to_owned(), closed.clone()),
        _ => modern(seen),
    })
    .await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    let cancel = CancellationToken::new();
    let options = CallOptions {
        cancel: cancel.clone(),
        ..CallOptions::default()
    };
    let stop = async {
        eventually("the call", || endpoint.count("tools/call") == 1).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(call_with(&upstreams, "echo", "{}", options), stop);
    assert!(matches!(outcome, Err(CallError::Cancelled { .. })));
    tokio::time::timeout(LONG, told.recv()).await.unwrap().unwrap();
    assert_eq!(endpoint.count("notifications/cancelled"), 0);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn cancelling_a_legacy_call_is_told_by_message() {
    let endpoint = Endpoint::start(move |seen| match seen.method() {
        "tools/call" => open_stream(": open\n\n".to_owned(), mpsc::unbounded_channel().0),
        _ => legacy(seen, "s-1"),
    })
    .await;
    let mut config = endpoint.server();
    config.request_timeout = Duration::from_millis(1500);
    let upstreams = settled(vec![config], options()).await;
    let error = call(&upstreams, "echo", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    eventually("the message", || endpoint.count("notifications/cancelled") == 1).await;
    let seen = endpoint.seen();
    let id = |method: &str| {
        seen.iter()
            .find(|seen| seen.method() == method)
            .unwrap()
            .body
            .clone()
    };
    assert_eq!(
        id("notifications/cancelled")["params"]["requestId"],
        id("tools/call")["id"]
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn changes_announced_on_the_open_stream_are_read() {
    let changed = Arc::new(Mutex::new(false));
    let flag = Arc::clone(&changed);
    let endpoint = Endpoint::start(move |seen| match (&seen.verb, seen.method()) {
        (&Method::GET, _) => {
            *flag.lock().unwrap() = true;
            let note = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
            open_stream(format!("data: {note}\n\n"), mpsc::unbounded_channel().0)
        }
        (_, "tools/list") if *flag.lock().unwrap() => {
            let result = json!({ "tools": [{ "name": "new", "inputSchema": {} }] });
            json_response(&seen.answer(result))
        }
        _ => legacy(seen, "s-1"),
    })
    .await;
    let upstreams = settled(vec![endpoint.server()], options()).await;
    until(&upstreams, "fake", |server| tool_names(server) == ["new"]).await;
    assert!(*changed.lock().unwrap());
    upstreams.shutdown().await;
}
