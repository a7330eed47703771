//! `codecell serve` as a process, and a client of it.
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::RequestBuilder;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::provider::{Provider, Reply};

/// Longest wait for something in another process: only broken code lets it pass.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server in a folder of its own.
pub(crate) struct Server {
    folder: TempDir,
    process: Process,
    http: reqwest::Client,
}

struct Process {
    child: Child,
    url: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// A server, and the provider behind it.
pub(crate) struct World {
    pub(crate) provider: Provider,
    pub(crate) server: Server,
}

impl World {
    /// With code mode.
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let provider = Provider::start(replies).await;
        let server = Server::start(&config(&provider, true));
        Self { provider, server }
    }

    /// Without code mode.
    pub(crate) async fn direct(replies: impl IntoIterator<Item = Reply>) -> Self {
        let provider = Provider::start(replies).await;
        let server = Server::start(&config(&provider, false));
        Self { provider, server }
    }
}

/// A configuration with two agents, with code mode or without.
pub(crate) fn config(provider: &Provider, code_mode: bool) -> Value {
    provider.config(json!({
        "agents": {
            "defaults": { "model": "fake/small", "systemPrompt": "You are a test." },
            "entries": { "reviewer": { "model": "fake/big" } },
        },
        "tools": { "codeMode": code_mode },
    }))
}

impl Server {
    pub(crate) fn start(config: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("codecell.json5"), config.to_string()).unwrap();
        // Once is enough, and it has been done by then in most tests.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            process: Process::start(folder.path()),
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            folder,
        }
    }

    /// Kills the process and starts another in its place.
    pub(crate) fn restart(&mut self) {
        self.process.child.kill().unwrap();
        self.process.child.wait().unwrap();
        self.process = Process::start(self.folder.path());
    }

    pub(crate) fn request(&self, path: &str, body: &Value) -> RequestBuilder {
        self.raw(path, body.to_string())
            .header("content-type", "application/json")
    }

    pub(crate) fn raw(&self, path: &str, body: impl Into<String>) -> RequestBuilder {
        let url = format!("{}{path}", self.process.url);
        self.http.post(url).body(body.into())
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::to(self.http.get(format!("{}{path}", self.process.url))).await
    }

    /// The status of it.
    pub(crate) async fn delete(&self, path: &str) -> u16 {
        let url = format!("{}{path}", self.process.url);
        Answer::to(self.http.delete(url)).await.status
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::to(self.request(path, body)).await
    }

    /// Chat completions in a session of this name.
    pub(crate) fn chat_in(&self, session: &str, body: &Value) -> RequestBuilder {
        self.request(CHAT, body).header("x-codecell-session", session)
    }
}

pub(crate) const CHAT: &str = "/v1/chat/completions";
pub(crate) const RESPONSES: &str = "/v1/responses";

impl Process {
    fn start(folder: &Path) -> Self {
        let cache: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-cache");
        let mut command = Command::new(env!("CARGO_BIN_EXE_codecell"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--state", "state"])
            .current_dir(folder)
            .env("HOME", folder)
            .env("XDG_CONFIG_HOME", folder.join("config"))
            .env("CODECELL_CACHE_DIR", cache)
            .env("CODECELL_RUNTIME_DIR", folder.join("run"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        for name in ["CODECELL_LOG", "CODECELL_TOKEN", "CODECELL_STATE_DIR"] {
            command.env_remove(name);
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut printed = BufReader::new(child.stdout.take().unwrap());
        printed.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("codecell serves on ");
        let url = url.unwrap_or_else(|| panic!("not ready: {line:?}")).to_owned();
        Self { child, url }
    }
}

/// What the server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) async fn to(request: RequestBuilder) -> Self {
        let response = request.timeout(PATIENCE).send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        Self {
            status,
            headers,
            text,
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The body of an answer that went well.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).unwrap_or_else(|| panic!("{self:?}"));
        value.to_str().unwrap()
    }

    pub(crate) fn session(&self) -> &str {
        self.header("x-codecell-session")
    }

    /// The status of an error, its code and its field.
    pub(crate) fn error(&self) -> (u16, Value, Value) {
        let error = self.json()["error"].take();
        (self.status, error["code"].clone(), error["param"].clone())
    }

    /// The data of the events of a stream, with their names if they have some. What is no JSON is a string.
    pub(crate) fn events(&self) -> Vec<(Option<String>, Value)> {
        assert_eq!(
            (self.status, self.header("content-type")),
            (200, "text/event-stream")
        );
        let frames = self.text.split("\n\n").filter(|frame| !frame.is_empty());
        let field = |frame: &str, name: &str| {
            let mut lines = frame.lines();
            lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
        };
        let event = |frame: &str| {
            let data = field(frame, "data: ")?;
            let data = serde_json::from_str(&data).unwrap_or(Value::String(data));
            Some((field(frame, "event: "), data))
        };
        frames.filter_map(event).collect()
    }
}

/// An error as [`Answer::error`] gives it.
pub(crate) fn error(status: u16, code: &str, param: Value) -> (u16, Value, Value) {
    (status, json!(code), param)
}

pub(crate) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// A request for chat completions with these messages.
pub(crate) fn chat(messages: Value) -> Value {
    json!({ "model": "codecell", "messages": messages })
}

/// The tool `lookup` of the application.
pub(crate) fn lookup() -> Value {
    json!([{ "type": "function", "function": {
        "name": "lookup",
        "description": "Looks something up.",
        "parameters": { "type": "object", "properties": { "q": { "type": "string" } } },
    } }])
}

/// The same for responses.
pub(crate) fn flat_lookup() -> Value {
    let mut tool = lookup()[0]["function"].clone();
    tool["type"] = json!("function");
    json!([tool])
}
