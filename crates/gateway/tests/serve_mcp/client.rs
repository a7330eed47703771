//! A client of `/mcp` that says just what a test wants it to say.
use axum::http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};

use super::place::{PATIENCE, Place};
use super::server::{Server, until};
use super::support::Stage;

/// The newest revision with a handshake.
pub(crate) const LEGACY: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

/// A gateway in front of a server that does as it is told.
pub(crate) struct Gateway {
    pub(crate) server: Server,
    pub(crate) place: Place,
    pub(crate) stage: Stage,
}

impl Gateway {
    /// Starts one with these settings of that server's entry and this configuration beside it.
    pub(crate) async fn start(entry: &Value, config: Value) -> Self {
        Self::playing(json!({}), entry, config).await
    }

    /// As [`start`](Self::start), with a scenario for the server.
    pub(crate) async fn playing(scenario: Value, entry: &Value, mut config: Value) -> Self {
        let stage = Stage::new(scenario);
        let mut fake = json!({ "command": super::support::fake_server(), "args": [stage.scenario()] });
        fake.as_object_mut()
            .unwrap()
            .extend(entry.as_object().unwrap().clone());
        config["mcp"] = json!({ "servers": { "fake": fake } });
        let place = Place::new(&config);
        let server = Server::start(&place, &[]).await;
        // The engine as well: whoever is the first on a machine has it compiled, and a cell that waits for that is none
        // that runs.
        until("the server and the engine are ready", async || {
            let ready = server.get("/readyz").await.json();
            ready["servers"][0]["state"] == "ready" && ready["engine"] == "ready"
        })
        .await;
        Self { server, place, stage }
    }

    /// One whose server's tools are only reached by programs.
    pub(crate) async fn plain() -> Self {
        Self::start(&json!({}), json!({})).await
    }

    /// Waits until this many VMs live and this many cells are suspended.
    pub(crate) async fn until_runs(&self, live: usize, suspended: usize) {
        until(&format!("{live} VMs, {suspended} suspended cells"), async || {
            let runs = self.server.get("/runs").await.json();
            runs["liveVms"] == live && runs["suspendedCells"] == suspended
        })
        .await;
    }

    /// Waits until the server behind it has logged this.
    pub(crate) async fn until_logged(&self, line: &str) {
        until(line, async || self.stage.count(line) > 0).await;
    }
}

/// The client: what it sends with every request.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    /// Sent as headers, if there.
    pub(crate) session: Option<String>,
    pub(crate) version: Option<&'static str>,
    modern: bool,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    /// Its messages, the last of a stream last.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let kind = self.headers["content-type"].to_str().unwrap();
        if kind == "application/json" {
            return vec![serde_json::from_str(&self.text).unwrap()];
        }
        assert_eq!(kind, "text/event-stream", "{self:?}");
        let events = self.text.split("\n\n").filter_map(Event::read);
        events.filter_map(|event| event.message()).collect()
    }

    /// The message that answers the request.
    pub(crate) fn message(&self) -> Value {
        self.messages()
            .pop()
            .unwrap_or_else(|| panic!("no message: {self:?}"))
    }

    /// The result in it.
    pub(crate) fn result(&self) -> Value {
        let message = self.message();
        assert!(message.get("result").is_some(), "{message}");
        message["result"].clone()
    }

    /// The status and the code of the error in it.
    pub(crate) fn error(&self) -> (u16, i64) {
        let code = self.message()["error"]["code"].as_i64();
        (
            self.status.as_u16(),
            code.unwrap_or_else(|| panic!("no error: {self:?}")),
        )
    }
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) data: String,
}

impl Event {
    fn read(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix(name));
            lines.map(str::trim_start).map(str::to_owned).next()
        };
        Some(Self {
            id: field("id:"),
            data: field("data:")?,
        })
    }

    pub(crate) fn message(&self) -> Option<Value> {
        (!self.data.is_empty()).then(|| serde_json::from_str(&self.data).unwrap())
    }
}

/// A stream that is read as it comes. Dropping it hangs up.
pub(crate) struct Stream {
    response: reqwest::Response,
    text: String,
}

impl Stream {
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The next event; `None` at the end.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        // A stream on which nothing happens still says that it is there, so the limit is for the event.
        tokio::time::timeout(PATIENCE, self.next_event()).await.unwrap()
    }

    async fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (Event::read(event), rest.to_owned());
                self.text = rest;
                match event {
                    Some(event) => return Some(event),
                    // A comment.
                    None => continue,
                }
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next message; `None` at the end.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            if let Some(message) = self.event().await?.message() {
                return Some(message);
            }
        }
    }

    /// The next message with this method.
    pub(crate) async fn said(&mut self, method: &str) -> Value {
        loop {
            let message = self.message().await.unwrap_or_else(|| panic!("no `{method}`"));
            if message["method"] == method {
                return message;
            }
        }
    }

    /// The result at the end.
    pub(crate) async fn result(mut self) -> Value {
        while let Some(message) = self.message().await {
            if message.get("result").is_some() {
                assert_eq!(self.message().await, None, "something after the answer");
                return message["result"].clone();
            }
        }
        panic!("no answer")
    }
}

impl Client {
    /// One that has said nothing yet.
    pub(crate) fn new(server: &Server) -> Self {
        Self {
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            url: format!("{}/mcp", server.url),
            session: None,
            version: None,
            modern: false,
        }
    }

    /// One with a session of this revision, which declares these capabilities.
    pub(crate) async fn with_session(server: &Server, version: &'static str, capabilities: Value) -> Self {
        let mut client = Self::new(server);
        let hello = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": { "name": "t", "version": "1" },
        });
        let answer = client.request("initialize", hello).await;
        assert_eq!(answer.result()["protocolVersion"], version);
        let session = answer.headers["mcp-session-id"].to_str().unwrap();
        client.session = Some(session.to_owned());
        client.version = Some(version);
        let told = client
            .post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        assert_eq!((told.status.as_u16(), told.text.as_str()), (202, ""));
        client
    }

    /// One with a session of the newest revision that has sessions.
    pub(crate) async fn legacy(server: &Server) -> Self {
        Self::with_session(server, LEGACY, json!({})).await
    }

    /// One of the era without sessions.
    pub(crate) fn modern(server: &Server) -> Self {
        Self {
            version: Some(MODERN),
            modern: true,
            ..Self::new(server)
        }
    }

    /// A request as it goes out.
    pub(crate) fn build(&self, method: Method) -> reqwest::RequestBuilder {
        let mut request = self.http.request(method, &self.url);
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(version) = self.version {
            request = request.header("mcp-protocol-version", version);
        }
        request
    }

    fn posting(&self, body: String) -> reqwest::RequestBuilder {
        self.build(Method::POST)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body)
    }

    /// Sends a body and reads the whole answer.
    pub(crate) async fn post(&self, body: Value) -> Answer {
        answer(self.posting(body.to_string())).await
    }

    /// As [`post`](Self::post), whatever the body is.
    pub(crate) async fn post_text(&self, body: &str) -> Answer {
        answer(self.posting(body.to_owned())).await
    }

    fn asking(&self, id: u64, method: &str, mut params: Value) -> reqwest::RequestBuilder {
        let mut headers = Vec::new();
        if self.modern {
            headers.push(("mcp-method", method.to_owned()));
            if let Some(name) = params["name"].as_str() {
                headers.push(("mcp-name", name.to_owned()));
            }
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let request = self.posting(body.to_string());
        headers
            .into_iter()
            .fold(request, |request, (name, value)| request.header(name, value))
    }

    /// Sends a request, with headers that say something else or more, and reads the whole answer.
    pub(crate) async fn request_with(
        &self,
        headers: &[(&'static str, &str)],
        method: &str,
        params: Value,
    ) -> Answer {
        let mut more = HeaderMap::new();
        for (name, value) in headers {
            more.insert(*name, value.parse().unwrap());
        }
        answer(self.asking(1, method, params).headers(more)).await
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Answer {
        answer(self.asking(1, method, params)).await
    }

    /// Sends a request and reads its answer as it comes.
    pub(crate) async fn open(&self, id: u64, method: &str, params: Value) -> Stream {
        stream(self.asking(id, method, params)).await
    }

    /// Sends a request and never looks at an answer.
    pub(crate) fn begin(&self, method: &str, params: Value) -> tokio::task::JoinHandle<()> {
        let request = self.asking(1, method, params);
        tokio::spawn(async move {
            let response = request.send().await.unwrap();
            let _unread = response.bytes().await;
        })
    }

    /// Listens to what belongs to no request, or comes back for a stream.
    pub(crate) async fn listen(&self, last_event: Option<&str>) -> Stream {
        let mut request = self.build(Method::GET).header("accept", "text/event-stream");
        if let Some(last_event) = last_event {
            request = request.header("last-event-id", last_event);
        }
        stream(request).await
    }

    /// Ends the session.
    pub(crate) async fn delete(&self) -> Answer {
        answer(self.build(Method::DELETE)).await
    }

    /// Calls a tool; the result.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", called(tool, arguments)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.result()
    }

    /// Runs a program; its cell result.
    pub(crate) async fn exec(&self, code: &str) -> Value {
        self.call("exec", json!({ "code": code })).await["structuredContent"].clone()
    }

    /// Goes on with a suspended cell; its cell result.
    pub(crate) async fn wait(&self, waiting: &Value) -> Value {
        let run = json!({ "runId": waiting["runId"] });
        self.call("wait", run).await["structuredContent"].clone()
    }
}

/// The parameters of a call.
pub(crate) fn called(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let read = async {
        let response = request.send().await.unwrap();
        Answer {
            status: response.status(),
            headers: response.headers().clone(),
            text: response.text().await.unwrap(),
        }
    };
    tokio::time::timeout(PATIENCE, read).await.unwrap()
}

async fn stream(request: reqwest::RequestBuilder) -> Stream {
    let response = tokio::time::timeout(PATIENCE, request.send()).await;
    Stream {
        response: response.unwrap().unwrap(),
        text: String::new(),
    }
}
