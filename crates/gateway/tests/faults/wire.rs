//! HTTP servers that break on the wire: what they send is written down byte by byte.
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use codecell_gateway::{
    config::{Secret, ServerConfig, Transport},
    upstream::{CallError, State, UpstreamOptions},
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

/// When a server breaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Greeting,
    List,
    /// Over the first call, and over no other.
    Call,
}

impl Phase {
    fn has(self, request: &Value) -> bool {
        let methods: &[&str] = match self {
            Self::Greeting => &["server/discover", "initialize"],
            Self::List => &["tools/list"],
            Self::Call => &["tools/call"],
        };
        request["method"]
            .as_str()
            .is_some_and(|method| methods.contains(&method))
    }
}

/// What a server sends instead of an answer before it hangs up: this, and then that for ever.
type Sent = (&'static str, Option<&'static str>);

/// A server of the newer era that breaks in one phase. It lives as long as the test's runtime.
struct Wire(SocketAddr);

impl Wire {
    async fn start(phase: Phase, sent: Sent) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let called = Arc::new(AtomicBool::new(false));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let called = Arc::clone(&called);
                tokio::spawn(async move {
                    let request = read(&mut stream).await;
                    let breaks =
                        phase.has(&request) && (phase != Phase::Call || !called.swap(true, Ordering::SeqCst));
                    let sent = if breaks {
                        send(&mut stream, sent).await
                    } else {
                        answer(&mut stream, &request).await
                    };
                    // The client may hang up first.
                    drop(sent);
                });
            }
        });
        Self(address)
    }

    fn config(&self, name: &str) -> ServerConfig {
        let url = Secret::new(format!("http://{}/mcp", self.0));
        let headers = Default::default();
        ServerConfig::new(name, Transport::Http { url, headers })
    }
}

/// The body of a request; null where there is none.
async fn read(stream: &mut TcpStream) -> Value {
    let mut text = Vec::new();
    loop {
        if let Some(head) = text.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let fields = String::from_utf8_lossy(&text[..head]).to_lowercase();
            let length = fields
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
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

async fn answer(stream: &mut TcpStream, request: &Value) -> std::io::Result<()> {
    let result = match request["method"].as_str().unwrap_or_default() {
        "server/discover" => {
            json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
        }
        "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": {} }] }),
        _ => json!({ "resultType": "complete", "content": [] }),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string();
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n";
    let whole = format!("{head}content-length: {}\r\n\r\n{answer}", answer.len());
    stream.write_all(whole.as_bytes()).await
}

async fn send(stream: &mut TcpStream, (once, endless): Sent) -> std::io::Result<()> {
    stream.write_all(once.as_bytes()).await?;
    if let Some(again) = endless {
        loop {
            stream.write_all(again.as_bytes()).await?;
        }
    }
    Ok(())
}

/// What is told of a request.
enum Told {
    /// The connection broke in this way.
    Broken(&'static str),
    /// The answer is none.
    NoResult(&'static str),
    /// An error of HTTP.
    Status(&'static str),
    /// An answer of so many bytes.
    TooLarge(u64),
}

impl Told {
    /// Why a server is not there that breaks over its greeting.
    fn of_greeting(&self) -> String {
        match self {
            Self::Broken(how) => format!("{how} during the handshake"),
            Self::NoResult(what) => format!("answered `initialize` with no MCP result: {what}"),
            Self::Status(status) => format!("answered `initialize` with {status}"),
            Self::TooLarge(_) => self.of_request("greeting", "initialize"),
        }
    }

    fn of_request(&self, server: &str, method: &str) -> String {
        match self {
            Self::Broken(how) => format!(
                "MCP server `{server}` {how} while the request was running (`{method}`); its effect is in doubt, so check before repeating it"
            ),
            Self::NoResult(what) => {
                format!(
                    "MCP server `{server}` answered `{method}` with something that is no MCP result: {what}"
                )
            }
            Self::Status(status) => format!("MCP server `{server}` answered `{method}` with {status}"),
            Self::TooLarge(size) => {
                format!(
                    "the answer for `{method}` of MCP server `{server}` has {size} bytes, at most 1000000 are taken"
                )
            }
        }
    }

    fn of_call(&self) -> String {
        let doubt = if matches!(self, Self::Status(_)) {
            ""
        } else {
            "in doubt: "
        };
        format!("{doubt}{}", self.of_request("call", "tools/call"))
    }
}

macro_rules! json_head {
    ($length:literal) => {
        concat!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ",
            $length,
            "\r\n\r\n"
        )
    };
}

const STREAM: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
const CUT: Told = Told::Broken("broke the connection: connection closed before message completed");

#[tokio::test(flavor = "multi_thread")]
async fn whatever_breaks_on_the_wire_is_told_at_every_phase_and_the_next_call_is_fine() {
    let faults: &[(&str, &str, Told)] = &[
        ("hangs up", "", CUT),
        ("breaks off its head", "HTTP/1.1 200 OK\r\ncontent-ty", CUT),
        (
            "speaks no HTTP",
            "220 mail.test ESMTP\r\n\r\n",
            Told::Broken("broke the connection: invalid HTTP version parsed"),
        ),
        (
            "breaks off its body",
            concat!(json_head!("500"), "{\"jsonrpc\""),
            Told::Broken("broke off its answer: end of file before message length reached"),
        ),
        (
            "has no body",
            json_head!("0"),
            Told::NoResult("HTTP 200 with body ``"),
        ),
        (
            "answers somebody else",
            concat!(
                json_head!("39"),
                "{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}"
            ),
            Told::NoResult("HTTP 200 with body `{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}`"),
        ),
        (
            "shows a page",
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\ncontent-length: 11\r\n\r\n<h1>Hi</h1>",
            Told::NoResult("HTTP 200 with body `<h1>Hi</h1>`"),
        ),
        (
            "shows an error of a proxy",
            "HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-type: text/html\r\ncontent-length: 12\r\n\r\n<h1>502</h1>",
            Told::Status("HTTP 502: <h1>502</h1>"),
        ),
        (
            "announces ten gigabytes",
            concat!(json_head!("10000000000"), "{"),
            Told::TooLarge(10_000_000_000),
        ),
        (
            "ends its stream without a word",
            STREAM,
            Told::Broken("ended its answer early"),
        ),
        (
            "answers somebody else on its stream",
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"id\":4711,\"result\":{}}\n\n",
            Told::Broken("ended its answer early"),
        ),
    ];
    for (name, sent, expected) in faults {
        let sent = (*sent, None);
        let configs = vec![
            Wire::start(Phase::Greeting, sent).await.config("greeting"),
            Wire::start(Phase::List, sent).await.config("list"),
            Wire::start(Phase::Call, sent).await.config("call"),
        ];
        let options = UpstreamOptions {
            max_message_bytes: 1_000_000,
            ..options()
        };
        let upstreams = settled(configs, options).await;
        let reason = expected.of_greeting();
        assert_eq!(
            view(&upstreams, "greeting").state,
            State::Failed { reason },
            "{name}"
        );
        let list = view(&upstreams, "list");
        let note = format!(
            "its tools were not read to the end: {}",
            expected.of_request("list", "tools/list")
        );
        assert_eq!(
            (list.state, list.listing, &*list.notes),
            (State::Ready, false, &[note][..]),
            "{name}"
        );
        assert_eq!(
            told(call(&upstreams, "list").await),
            r#"{"content":[]}"#,
            "{name}"
        );
        assert_eq!(told(call(&upstreams, "call").await), expected.of_call(), "{name}");
        assert_eq!(
            told(call(&upstreams, "call").await),
            r#"{"content":[]}"#,
            "{name}"
        );
        upstreams.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_end_is_given_up_by_its_size_or_by_the_time_it_takes() {
    /// Which limit ends it.
    #[derive(Debug, PartialEq, Eq)]
    enum Limit {
        Size,
        Time,
        Head,
    }
    let text = "x".repeat(10_000).leak();
    let faults: [(&str, Sent, Limit); 5] = [
        (
            "a body",
            (
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n\"",
                Some(text),
            ),
            Limit::Size,
        ),
        ("a head", ("HTTP/1.1 200 OK\r\nx: ", Some(text)), Limit::Head),
        (
            "an event",
            (
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\ndata: ",
                Some(text),
            ),
            Limit::Size,
        ),
        ("comments", (STREAM, Some(": still there\n\n")), Limit::Time),
        (
            "news",
            (
                STREAM,
                Some("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n"),
            ),
            Limit::Time,
        ),
    ];
    for (name, sent, expected) in faults {
        let mut config = Wire::start(Phase::Call, sent).await.config("fake");
        config.request_timeout = Duration::from_secs(3);
        let options = UpstreamOptions {
            max_message_bytes: 1_000_000,
            ..options()
        };
        let upstreams = settled(vec![config], options).await;
        let error = call(&upstreams, "fake").await.unwrap_err();
        let limit = match &error {
            CallError::TooLarge { .. } => Limit::Size,
            CallError::TimedOut { .. } => Limit::Time,
            CallError::Disconnected { .. } => Limit::Head,
            other => panic!("{name}: {other}"),
        };
        assert_eq!((limit, error.in_doubt()), (expected, true), "{name}: {error}");
        assert_eq!(
            told(call(&upstreams, "fake").await),
            r#"{"content":[]}"#,
            "{name}"
        );
        upstreams.shutdown().await;
    }
}
