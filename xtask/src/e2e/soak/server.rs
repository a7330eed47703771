//! An MCP server that its driver can have misbehave: a process of its own, over stdio or HTTP.
//!
//! It speaks the era with a handshake. Orders come over a connection that it opens to the driver, so that they reach
//! a child of the gateway as well.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{http::Head, mcp::LEGACY};

/// How the server is reached.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// What it is called.
    #[arg(long)]
    name: String,
    /// Where its driver listens.
    #[arg(long)]
    driver: SocketAddr,
    /// Serves HTTP on this port of the loopback address, 0 for any; without it, the standard streams.
    #[arg(long)]
    port: Option<u16>,
}

/// What the driver can have it do. An order is one line: a word of these and a number.
const SILENT: &str = "silent";
const GARBAGE: &str = "garbage";
const TORN: &str = "torn";
const STORM: &str = "storm";
const NOISE: &str = "noise";
const HANG_UP: &str = "hang-up";
const CALM: &str = "calm";

/// What happens to the next answers.
#[derive(Default)]
struct Mood {
    /// So many requests get no answer.
    silent: AtomicU64,
    /// So many get something that is no message.
    garbage: AtomicU64,
    /// So many get half an answer, and the server or the connection ends.
    torn: AtomicU64,
    /// Counts changes of the tools: an odd one adds a tool.
    changes: AtomicU64,
    calls: AtomicU64,
}

/// What becomes of an answer.
enum Delivery {
    Whole,
    Silent,
    Garbage,
    Torn,
}

impl Mood {
    fn delivery(&self) -> Delivery {
        let takes = |left: &AtomicU64| {
            left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                .is_ok()
        };
        if takes(&self.silent) {
            Delivery::Silent
        } else if takes(&self.garbage) {
            Delivery::Garbage
        } else if takes(&self.torn) {
            Delivery::Torn
        } else {
            Delivery::Whole
        }
    }

    fn calm(&self) {
        for left in [&self.silent, &self.garbage, &self.torn] {
            left.store(0, Ordering::SeqCst);
        }
    }
}

/// Serves until its input ends, or its driver goes.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mood = Arc::new(Mood::default());
    let pid = std::process::id();
    match options.port {
        None => {
            let out = Arc::new(Mutex::new(io::stdout()));
            let driver = greet(options, &format!("{} {pid} 0", options.name))?;
            let (orders, told) = (Arc::clone(&mood), Arc::clone(&out));
            thread::spawn(move || {
                obey(driver, &orders, |text| {
                    let mut out = lock(&told);
                    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
                });
            });
            stdio(&mood, &out)
        }
        Some(port) => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).context("no port")?;
            let port = listener.local_addr()?.port();
            let web = Arc::new(Web {
                mood,
                session: pid.to_string(),
                connections: Mutex::default(),
                listeners: Mutex::default(),
            });
            let driver = greet(options, &format!("{} {pid} {port}", options.name))?;
            let told = Arc::clone(&web);
            thread::spawn(move || obey(driver, &told.mood, |text| told.tell(text)));
            for (number, stream) in (0..).zip(listener.incoming().map_while(Result::ok)) {
                let web = Arc::clone(&web);
                thread::spawn(move || {
                    let _ = web.connection(number, &stream);
                    lock(&web.connections).remove(&number);
                });
            }
            Ok(())
        }
    }
}

fn greet(options: &Options, greeting: &str) -> Result<TcpStream> {
    let mut driver = TcpStream::connect(options.driver).context("no driver")?;
    writeln!(driver, "{greeting}")?;
    Ok(driver)
}

/// Carries out orders until the driver goes, and then ends the process. `say` takes one line to whoever listens.
fn obey(driver: TcpStream, mood: &Mood, say: impl Fn(&str)) {
    for line in BufReader::new(driver).lines().map_while(Result::ok) {
        let (order, number) = line.split_once(' ').unwrap_or((&line, "1"));
        let number: u64 = number.parse().unwrap_or(1);
        match order {
            SILENT => mood.silent.store(number, Ordering::SeqCst),
            GARBAGE => mood.garbage.store(number, Ordering::SeqCst),
            TORN => mood.torn.store(number, Ordering::SeqCst),
            STORM => {
                mood.changes.fetch_add(1, Ordering::SeqCst);
                let news =
                    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }).to_string();
                (0..number).for_each(|_| say(&news));
            }
            NOISE => {
                (0..number).for_each(|number| say(&format!("line {number} of a log in the wrong place")))
            }
            HANG_UP => say(HANG_UP),
            CALM => mood.calm(),
            _ => {}
        }
    }
    std::process::exit(0);
}

fn stdio(mood: &Arc<Mood>, out: &Arc<Mutex<io::Stdout>>) -> Result<()> {
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.context("reading standard input")?) else {
            continue;
        };
        let (mood, out) = (Arc::clone(mood), Arc::clone(out));
        let respond = move || {
            let Some(answer) = answer(&message, &mood) else {
                return;
            };
            let text = answer.to_string();
            let mut out = lock(&out);
            let _ = match mood.delivery() {
                Delivery::Whole => writeln!(out, "{text}"),
                Delivery::Silent => Ok(()),
                Delivery::Garbage => writeln!(out, "{{\"jsonrpc\": \"2.0\", \"id\": }}"),
                Delivery::Torn => {
                    let _ = out.write_all(&text.as_bytes()[..text.len() / 2]);
                    let _ = out.flush();
                    std::process::exit(7);
                }
            }
            .and_then(|()| out.flush());
        };
        thread::spawn(respond);
    }
    Ok(())
}

/// The server over HTTP.
struct Web {
    mood: Arc<Mood>,
    /// A process that was started anew does not know the sessions of the one before.
    session: String,
    /// Those that may be kept for the next request.
    connections: Mutex<HashMap<u64, TcpStream>>,
    /// Those that wait for news.
    listeners: Mutex<Vec<TcpStream>>,
}

impl Web {
    fn tell(&self, text: &str) {
        if text == HANG_UP {
            for stream in lock(&self.connections).values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
            return;
        }
        let event = format!("event: message\ndata: {text}\n\n");
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        lock(&self.listeners).retain_mut(|stream| stream.write_all(chunk.as_bytes()).is_ok());
    }

    fn connection(&self, number: u64, mut stream: &TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        lock(&self.connections).insert(number, stream.try_clone()?);
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(head) = Head::read(&mut reader)? {
            let body = head.body(&mut reader)?.text()?;
            let known = head
                .header("mcp-session-id")
                .is_none_or(|session| session == self.session);
            let method = head.first.split(' ').next().unwrap_or_default();
            match method {
                _ if !known => stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")?,
                "GET" => {
                    lock(&self.connections).remove(&number);
                    stream.write_all(
                        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
                    )?;
                    lock(&self.listeners).push(stream.try_clone()?);
                    // Until the other side goes: it has nothing to say.
                    let _ = stream.read(&mut [0; 1]);
                    let _ = stream.shutdown(Shutdown::Both);
                    return Ok(());
                }
                "POST" => {
                    let Ok(message) = serde_json::from_str::<Value>(&body) else {
                        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")?;
                        continue;
                    };
                    let Some(answer) = answer(&message, &self.mood) else {
                        stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")?;
                        continue;
                    };
                    if !self.deliver(stream, &answer.to_string())? {
                        stream.shutdown(Shutdown::Both)?;
                        return Ok(());
                    }
                }
                _ => stream.write_all(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")?,
            }
        }
        Ok(())
    }

    /// Sends an answer; false if the connection is of no more use.
    fn deliver(&self, mut stream: &TcpStream, text: &str) -> Result<bool> {
        let whole = |text: &str| {
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: {}\r\ncontent-length: {}\r\n\r\n{text}",
                self.session,
                text.len()
            )
        };
        match self.mood.delivery() {
            Delivery::Whole => stream.write_all(whole(text).as_bytes())?,
            Delivery::Garbage => stream.write_all(whole("<html>It works!</html>").as_bytes())?,
            Delivery::Torn => {
                let whole = whole(text);
                stream.write_all(&whole.as_bytes()[..whole.len() - text.len() / 2])?;
                return Ok(false);
            }
            Delivery::Silent => {
                // Until the other side gives up.
                let _ = stream.read(&mut [0; 1]);
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What a message is answered; `None` if it is no request.
fn answer(message: &Value, mood: &Mood) -> Option<Value> {
    let id = message.get("id")?;
    let method = message["method"].as_str()?;
    let params = &message["params"];
    let result = match method {
        "initialize" => json!({
            "protocolVersion": LEGACY.last(), "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "soak", "version": "1" }
        }),
        "ping" => json!({}),
        "tools/list" => tools(mood),
        "tools/call" => call(params, mood)?,
        _ => {
            let error = json!({ "code": -32601, "message": format!("method `{method}` not found") });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn tools(mood: &Mood) -> Value {
    let tool = |name: &str, description: &str, read_only: bool| {
        json!({
            "name": name, "description": description, "annotations": { "readOnlyHint": read_only },
            "inputSchema": {
                "type": "object", "properties": { "value": {}, "ms": { "type": "integer", "minimum": 0 } },
                "additionalProperties": false
            },
            "outputSchema": { "type": "object", "properties": { "value": {} }, "required": ["value"] }
        })
    };
    let mut tools = vec![
        tool("echo_value", "Returns the value it was given.", true),
        tool("slow_value", "Waits, then returns the value.", true),
        tool("count_call", "Counts its calls, then returns the value.", false),
    ];
    if mood.changes.load(Ordering::SeqCst) % 2 == 1 {
        tools.push(tool("extra_value", "Comes and goes.", true));
    }
    json!({ "tools": tools })
}

fn call(params: &Value, mood: &Mood) -> Option<Value> {
    let arguments = &params["arguments"];
    match params["name"].as_str()? {
        "slow_value" => thread::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or(0))),
        "count_call" => {
            mood.calls.fetch_add(1, Ordering::SeqCst);
        }
        _ => {}
    }
    let value = json!({ "value": arguments["value"] });
    Some(json!({ "content": [{ "type": "text", "text": value.to_string() }], "structuredContent": value }))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
