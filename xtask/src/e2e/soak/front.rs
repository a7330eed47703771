//! Clients of the gateway: plain requests, and `/mcp` in both eras.

use std::{
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{
    e2e::{agent::TOKEN, room::Door},
    http::{Answer, Incoming, Request},
    mcp::{MODERN, VERSION_KEY},
};

/// Longest that any answer may take. Nothing here is about time, so it is far beyond what a busy machine needs.
pub(super) const AMPLE: Duration = Duration::from_secs(300);

/// Where the gateway listens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Front {
    pub(super) address: SocketAddr,
}

impl Front {
    /// Sends a request, with the token unless it carries another, and reads the head of the answer.
    pub(super) fn open(self, request: Request) -> Result<Incoming> {
        authorized(request).send(self.address, AMPLE)
    }

    /// Sends a request and reads the whole answer.
    pub(super) fn ask(self, request: Request) -> Result<Answer> {
        self.open(request)?.whole()
    }

    /// Sends a request and reads nothing. Dropping the connection is what a client that vanishes does.
    pub(super) fn begin(self, request: Request) -> Result<TcpStream> {
        authorized(request).begin(self.address, AMPLE)
    }
}

fn authorized(request: Request) -> Request {
    if request.has("authorization") {
        return request;
    }
    request.header("authorization", &format!("Bearer {TOKEN}"))
}

/// Somebody at `/mcp`.
pub(super) struct Visitor {
    front: Front,
    version: &'static str,
    /// Where the era has them.
    session: Option<String>,
    last_id: u64,
}

impl Visitor {
    /// One of the era without a handshake.
    pub(super) fn modern(front: Front) -> Visitor {
        Visitor {
            front,
            version: MODERN,
            session: None,
            last_id: 0,
        }
    }

    /// One who has shaken hands on this revision.
    pub(super) fn legacy(front: Front, version: &'static str) -> Result<Visitor> {
        let mut visitor = Visitor {
            front,
            version,
            session: None,
            last_id: 0,
        };
        let client = json!({ "name": "soak", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let (id, request) = visitor.request("initialize", params);
        let incoming = front.open(request)?;
        visitor.session = incoming.head.header("mcp-session-id").map(str::to_owned);
        let result = answer(incoming, id)?;
        ensure!(
            result["protocolVersion"] == version && visitor.session.is_some(),
            "asked for {version}: {result}"
        );
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let accepted = front.ask(visitor.dressed(Request::post("/mcp", &told)))?;
        ensure!(accepted.status == 202, "a notification was answered {accepted:?}");
        Ok(visitor)
    }

    fn is_modern(&self) -> bool {
        self.version == MODERN
    }

    /// A request and its id.
    fn request(&mut self, method: &str, mut params: Value) -> (u64, Request) {
        self.last_id += 1;
        let name = params["name"].as_str().map(str::to_owned);
        if self.is_modern() {
            params["_meta"] = json!({
                VERSION_KEY: MODERN, "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "soak", "version": "1" }
            });
        }
        let body = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        let mut request = self.dressed(Request::post("/mcp", &body));
        if self.is_modern() {
            request = request.header("mcp-method", method);
            if let Some(name) = name {
                request = request.header("mcp-name", &name);
            }
        }
        (self.last_id, request)
    }

    fn dressed(&self, request: Request) -> Request {
        let request = request.header("accept", "application/json, text/event-stream");
        match &self.session {
            Some(session) => request
                .header("mcp-session-id", session)
                .header("mcp-protocol-version", self.version),
            None if self.is_modern() => request.header("mcp-protocol-version", self.version),
            None => request,
        }
    }

    /// Calls `exec` or `wait`, and returns the result of the cell.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        Door::result(self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))?)
    }

    /// Asks for anything, and returns the result.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let (id, request) = self.request(method, params);
        answer(self.front.open(request)?, id)
    }

    /// A call and its id.
    pub(super) fn calling(&mut self, tool: &str, arguments: &Value) -> (u64, Request) {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Whether the era has sessions.
    pub(super) fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// Listens to what belongs to no request.
    pub(super) fn listen(&self) -> Result<Incoming> {
        let incoming = self.front.open(self.dressed(Request::get("/mcp")))?;
        ensure!(
            incoming.status == 200,
            "nothing to listen to: {}",
            incoming.status
        );
        Ok(incoming)
    }

    /// Ends the session, if there is one.
    pub(super) fn leave(self) -> Result<()> {
        if self.session.is_none() {
            return Ok(());
        }
        let answer = self.front.ask(self.dressed(Request::new("DELETE", "/mcp")))?;
        ensure!(answer.status == 204, "a session was not ended: {answer:?}");
        Ok(())
    }
}

/// The result in an answer to the request of this id, whether it is one message or a stream of them.
fn answer(mut incoming: Incoming, id: u64) -> Result<Value> {
    let kind = incoming
        .head
        .header("content-type")
        .unwrap_or_default()
        .to_owned();
    if !kind.starts_with("text/event-stream") {
        return result(incoming.whole()?.expect(200)?, id);
    }
    ensure!(
        incoming.status == 200,
        "a stream with the status {}",
        incoming.status
    );
    while let Some((_, data)) = incoming.event()? {
        if data.is_empty() {
            continue;
        }
        let message: Value = serde_json::from_str(&data).with_context(|| format!("no JSON: {data}"))?;
        if message.get("method").is_none() {
            return result(message, id);
        }
    }
    bail!("a stream without the answer to {id}")
}

fn result(mut message: Value, id: u64) -> Result<Value> {
    ensure!(
        message["id"] == id && message.get("result").is_some(),
        "no result of {id}: {message}"
    );
    Ok(message["result"].take())
}
