//! How it ends: what runs may finish, nothing is left behind.
use axum::http::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::place::{Place, shop};
use super::provider::{Provider, Reply};
use super::server::{Send, Server, gone, until};

/// What is logged when connections had to be cut off.
const CUT_OFF: &str = "connections were still open at the end";

async fn server(provider: &Provider) -> (Place, Server) {
    let place = Place::new(&provider.config(json!({ "tools": { "codeMode": true }, "mcp": shop() })));
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--state", "state"]);
    command.env("CODECELL_LOG", "codecell_gateway=debug");
    let server = Server::from(command).await;
    until("its server is ready", async || {
        server.get("/readyz").await.json()["servers"][0]["state"] == "ready"
    })
    .await;
    (place, server)
}

/// Asks the process to end, and waits until it has heard so.
async fn asked_to_end(server: &Server) {
    server.signal(Signal::TERM);
    until("it is not ready any more", async || {
        server.get("/readyz").await.status == 503
    })
    .await;
}

fn text(answer: &Value) -> &Value {
    &answer["choices"][0]["message"]["content"]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_runs_may_finish_and_nothing_new_begins() {
    let provider = Provider::start([Reply::Held("A", "B")]).await;
    let (_place, mut server) = server(&provider).await;
    let children = server.children();
    assert!(!children.is_empty());
    let turn = server.turn("s", "hi", &[]);
    provider.asked(1).await;
    asked_to_end(&server).await;
    assert_eq!(server.get("/readyz").await.json()["status"], "stopping");
    assert_eq!(server.get("/runs").await.json()["runs"][0]["state"], "running");
    let late = server.turn("t", "hi", &[]).await.unwrap().unwrap();
    assert_eq!(late.error().0, 503);
    provider.let_go();
    assert_eq!(text(&turn.await.unwrap().unwrap().json()), "AB");
    let (code, stderr) = server.ended().await;
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains(CUT_OFF), "{stderr}");
    gone(&children).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waits_for_its_client_holds_nobody_up() {
    let code = "return await tools.lookup({})";
    let provider = Provider::start([Reply::Call("exec", json!({ "code": code }))]).await;
    let (place, mut server) = server(&provider).await;
    server.turn("s", "hi", &["lookup"]).await.unwrap().unwrap();
    server.signal(Signal::INT);
    let (code, stderr) = server.ended().await;
    assert_eq!(code, Some(0), "{stderr}");
    // Its end is in the transcript: every call has its result.
    let server = Server::start(&place, &[]).await;
    let shown = server.get("/sessions/s").await.json();
    let kinds: Vec<&Value> = shown["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["type"])
        .collect();
    assert_eq!(
        kinds,
        ["user", "tool_call", "tool_call", "tool_result", "tool_result"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_twice_does_not_wait() {
    let provider = Provider::start([Reply::Held("A", "B")]).await;
    let (_place, mut server) = server(&provider).await;
    let children = server.children();
    let turn = server.turn("s", "hi", &[]);
    provider.asked(1).await;
    asked_to_end(&server).await;
    server.signal(Signal::TERM);
    // The provider never goes on: only the second signal ends this.
    let answer = turn.await.unwrap().unwrap();
    assert!(
        answer.status.is_server_error() || answer.body.contains("error"),
        "{answer:?}"
    );
    let (code, stderr) = server.ended().await;
    assert_eq!(code, Some(0), "{stderr}");
    gone(&children).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_do_nothing_hold_nobody_up() {
    let provider = Provider::start([]).await;
    let (_place, mut server) = server(&provider).await;
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let silent = TcpStream::connect(&address).await.unwrap();
    let mut idle = TcpStream::connect(&address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut head = [0; 15];
    idle.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    server.signal(Signal::TERM);
    let (code, stderr) = server.ended().await;
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains(CUT_OFF), "{stderr}");
    drop((silent, idle));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_only_listens_ends() {
    let provider = Provider::start([]).await;
    let (_place, mut server) = server(&provider).await;
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" }
    } });
    let send = Send {
        headers: &[
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ],
        body: Some(hello.to_string()),
    };
    let answer = server.send(Method::POST, "/mcp", send).await;
    let session = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let url = server.url.clone();
    let (opened, open) = tokio::sync::oneshot::channel();
    let listening = tokio::spawn(async move {
        let mut stream = reqwest::Client::builder()
            .no_proxy()
            .build()
            .unwrap()
            .get(format!("{url}/mcp"))
            .header("accept", "text/event-stream")
            .header("mcp-session-id", session)
            .send()
            .await
            .unwrap();
        opened.send(stream.status()).unwrap();
        while stream.chunk().await.unwrap().is_some() {}
    });
    assert_eq!(open.await.unwrap(), 200);
    server.signal(Signal::TERM);
    listening.await.unwrap();
    let (code, stderr) = server.ended().await;
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains(CUT_OFF), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_killed_leaves_no_process_behind() {
    let provider = Provider::start([]).await;
    let (_place, mut server) = server(&provider).await;
    let children = server.children();
    assert!(!children.is_empty());
    server.signal(Signal::KILL);
    assert_eq!(server.ended().await.0, None);
    gone(&children).await;
}
