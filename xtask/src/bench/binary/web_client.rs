//! `codecell serve`, and clients of its `/mcp` that keep their connections.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{exec, handshake, home::Home, revision, stdio::LIMIT};
use crate::{
    http::Head,
    process::{end_group, finish, terminate},
};

/// Begins the one line on standard output.
const GREETING: &str = "codecell serves on http://";

/// A running gateway.
pub(super) struct Serve {
    /// Taken by whoever ends it.
    child: Option<Child>,
    address: SocketAddr,
}

impl Serve {
    /// Starts it, with time for a cell, and waits until it says where it listens.
    pub(super) fn start(home: &Home, timeout: Duration) -> Result<Serve> {
        use std::os::unix::process::CommandExt;
        let code_mode = json!({ "enabled": true, "timeoutMs": timeout.as_millis() });
        home.configure(&json!({ "tools": { "codeMode": code_mode }, "serve": {} }).to_string())?;
        let mut child = home
            .codecell(&["serve", "--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("starting the gateway")?;
        let stdout = child.stdout.take().context("no standard output")?;
        let mut serve = Serve {
            child: Some(child),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        let mut said = String::new();
        BufReader::new(stdout).read_line(&mut said)?;
        let address = said.trim_end().strip_prefix(GREETING);
        let address = address.and_then(|address| address.parse().ok());
        serve.address = address.with_context(|| format!("`{said}` does not say where it listens"))?;
        Ok(serve)
    }

    /// Opens a session over a connection of its own.
    pub(super) fn client(&self) -> Result<Client> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LIMIT))?;
        let mut client = Client {
            writer: stream.try_clone()?,
            reader: BufReader::new(stream),
            head: format!(
                "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, \
                 text/event-stream\r\nmcp-protocol-version: {}\r\n",
                self.address,
                revision()
            ),
        };
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake() });
        let (head, _) = client.post(&body)?;
        let session = head.header("mcp-session-id").context("no session")?;
        client.head.push_str(&format!("mcp-session-id: {session}\r\n"));
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    pub(super) fn stop(mut self) -> Result<()> {
        let child = self.child.take().context("the gateway has already been ended")?;
        terminate(child.id())?;
        finish(child, Instant::now() + LIMIT)?;
        Ok(())
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            end_group(child);
        }
    }
}

/// One session, one connection.
pub(super) struct Client {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
    /// What each request begins with.
    head: String,
}

impl Client {
    /// Runs a program that must come to `status`, and says how long its answer took.
    pub(super) fn exec(&mut self, code: &str, status: &str) -> Result<Duration> {
        let body = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": exec(code) });
        let start = Instant::now();
        let (_, text) = self.post(&body)?;
        let took = start.elapsed();
        // The text has it too, with its quotes escaped.
        let said = format!("\"structuredContent\":{{\"status\":\"{status}\"");
        ensure!(text.contains(&said), "`{code}` came to {text}");
        Ok(took)
    }

    fn post(&mut self, body: &Value) -> Result<(Head, String)> {
        let body = body.to_string();
        let request = format!("{}content-length: {}\r\n\r\n{body}", self.head, body.len());
        self.writer.write_all(request.as_bytes())?;
        let head = Head::read(&mut self.reader)?.context("closed without an answer")?;
        let text = head.body(&mut self.reader)?.text()?;
        ensure!(head.first.contains(" 20"), "`{}`: {text}", head.first);
        Ok((head, text))
    }
}
