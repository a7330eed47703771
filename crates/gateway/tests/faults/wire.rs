//! HTTP servers that break on the wire: what they send is written down byte by byte.
use std::{net::SocketAddr, sync::Arc, time::Duration};

use codecell_gateway::{
    config::{Secret, ServerConfig, Transport},
    upstream::{State, UpstreamOptions},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{
    scripted::{call, told},
    support::{options, settled, view},
};

/// What is sent instead of an answer before the server hangs up; `%` is the id of the request.
#[derive(Clone, Copy)]
enum Sent {
    Once(&'static str),
    /// Then this, again and again.
    Endless(&'static str, &'static str),
}

/// A server of the newer era that answers requests of one method in its own way.
struct Wire(SocketAddr);

impl Wire {
    async fn start(method: &'static str, sent: Sent) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let first = Arc::new(std::sync::atomic::AtomicBool::new(true));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let first = Arc::clone(&first);
                tokio::spawn(async move {
                    let mut stream = stream;
                    let request = read(&mut stream).await;
                    // Only one call is broken; greetings and lists always are.
                    let broken = request["method"] == method
                        && (method != "tools/call" || first.swap(false, std::sync::atomic::Ordering::SeqCst));
                    let id = request["id"].to_string();
                    if broken {
                        send(&mut stream, sent, &id).await;
                    } else {
                        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result(&request) });
                        let answer = answer.to_string();
                        let head = format!(
                            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                            answer.len()
                        );
                        let _hung_up = stream.write_all((head + &answer).as_bytes()).await;
                    }
                });
            }
        });
        Self(address)
    }

    fn config(&self, name: &str) -> ServerConfig {
        let url = Secret::new(format!("http://{}/mcp", self.0));
        ServerConfig::new(name, Transport::Http { url, headers: Default::default() })
    }
}

fn result(request: &Value) -> Value {
    match request["method"].as_str().unwrap_or_default() {
        "server/discover" => {
            json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
        }
        "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": {} }] }),
        _ => json!({ "resultType": "complete", "content": [] }),
    }
}

/// The body of a request; null where there is none.
async fn read(stream: &mut TcpStream) -> Value {
    let mut text = Vec::new();
    loop {
        if let Some(head) = text.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let names = String::from_utf8_lossy(&text[..head]).to_lowercase();
            let length = names.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            if text.len() >= head + 4 + length {
                return serde_json::from_slice(&text[head + 4..]).unwrap_or_default();
            }
        }
        let mut part = [0; 4096];
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return Value::Null,
            Ok(count) => text.extend_from_slice(&part[..count]),
        }
    }
}

async fn send(stream: &mut TcpStream, sent: Sent, id: &str) {
    let (once, again) = match sent {
        Sent::Once(once) => (once, None),
        Sent::Endless(once, again) => (once, Some(again)),
    };
    let mut open = stream.write_all(once.replace('%', id).as_bytes()).await.is_ok();
    while let Some(again) = again
        && open
    {
        open = stream.write_all(again.as_bytes()).await.is_ok();
    }
}

const HEAD: &str = "HTTP/1.1 200 OK\r\n";

/// A name for the fault, what is sent, and what is told of the request.
const FAULTS: &[(&str, Sent, &str)] = &[
    ("hangs up", Sent::Once(""), "?"),
    ("speaks no HTTP", Sent::Once("220 mail.test ESMTP\r\n\r\n"), "?"),
    ("breaks off its head", Sent::Once("HTTP/1.1 200 OK\r\ncontent-ty"), "?"),
    (
        "breaks off its body",
        Sent::Once("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"jsonrpc\""),
        "?",
    ),
    (
        "has no body",
        Sent::Once("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n"),
        "?",
    ),
    (
        "answers somebody else",
        Sent::Once("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}  "),
        "?",
    ),
    (
        "shows a page of errors",
        Sent::Once("HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: 12\r\n\r\n<h1>502</h1>"),
        "?",
    ),
    (
        "shows a page",
        Sent::Once("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 11\r\n\r\n<h1>Hi</h1>"),
        "?",
    ),
    (
        "announces ten gigabytes",
        Sent::Once("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10000000000\r\n\r\n{"),
        "?",
    ),
    (
        "ends its stream without a word",
        Sent::Once("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 0\r\n\r\n"),
        "?",
    ),
    (
        "answers somebody else on its stream",
        Sent::Once("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {\"id\":4711,\"result\":{}}\n\n"),
        "?",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn whatever_breaks_on_the_wire_is_told_at_every_phase_and_the_next_call_is_fine() {
    let _ = HEAD;
    for (name, sent, outcome) in FAULTS {
        let greeting = Wire::start("server/discover", *sent).await;
        let list = Wire::start("tools/list", *sent).await;
        let calls = Wire::start("tools/call", *sent).await;
        let configs = vec![greeting.config("greeting"), list.config("list"), calls.config("call")];
        let options = UpstreamOptions { max_message_bytes: 1_000_000, ..options() };
        let upstreams = settled(configs, options).await;
        println!("{name}\n  {:?}\n  {:?} {:?}\n  {}\n  {}", view(&upstreams, "greeting").state, view(&upstreams, "list").state, view(&upstreams, "list").notes, told(call(&upstreams, "call").await), told(call(&upstreams, "call").await));
        let _ = (outcome, State::Ready, Duration::ZERO);
        upstreams.shutdown().await;
    }
}
