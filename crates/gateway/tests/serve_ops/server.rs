//! A `codecell serve` that runs beside a test, and requests to it.
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use axum::http::{HeaderMap, Method, StatusCode};
use reqwest::header::HeaderName;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::place::{PATIENCE, Place};

/// The process. It is killed with the test.
pub(crate) struct Server {
    child: Child,
    id: u32,
    pub(crate) url: String,
    http: reqwest::Client,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The status and the code of the error.
    pub(crate) fn error(&self) -> (u16, String) {
        let error = &self.json()["error"];
        let mut keys: Vec<&String> = error.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, ["code", "message", "param", "type"], "{self:?}");
        (self.status.as_u16(), error["code"].as_str().unwrap().to_owned())
    }
}

/// What is sent.
#[derive(Clone, Default)]
pub(crate) struct Send<'a> {
    pub(crate) headers: &'a [(&'static str, &'a str)],
    pub(crate) body: Option<String>,
}

impl Server {
    /// Starts one that takes a free port, and waits until it is ready.
    pub(crate) async fn start(place: &Place, more: &[&str]) -> Self {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--state", "state"];
        Self::from(place.command(&[&arguments, more].concat())).await
    }

    pub(crate) async fn from(command: std::process::Command) -> Self {
        let mut child = Command::from(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).await.unwrap();
        let Some(url) = line.trim().strip_prefix("codecell serves on ") else {
            let stderr = read(child.stderr.take().unwrap()).await;
            panic!("it is not ready: {line:?} {stderr}");
        };
        // Some other test of this process may have been faster.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            id: child.id().unwrap(),
            child,
            url: url.to_owned(),
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
        }
    }

    pub(crate) async fn send(&self, method: Method, path: &str, send: Send<'_>) -> Answer {
        let request = request(&self.http, method, &format!("{}{path}", self.url), send);
        answer(request).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, Send::default()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, Send::default()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        let send = Send {
            headers: &[("content-type", "application/json")],
            body: Some(body.to_owned()),
        };
        self.send(Method::POST, path, send).await
    }

    /// Begins a turn of a session, with these tools of the application; its answer comes later.
    pub(crate) fn turn(&self, session: &str, prompt: &str, tools: &[&str]) -> JoinHandle<Option<Answer>> {
        let tools: Vec<Value> = tools
            .iter()
            .map(|name| json!({ "type": "function", "function": { "name": name, "parameters": { "type": "object" } } }))
            .collect();
        let mut body = json!({ "model": "codecell", "messages": [{ "role": "user", "content": prompt }] });
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        let (http, url) = (self.http.clone(), format!("{}/v1/chat/completions", self.url));
        let session = session.to_owned();
        tokio::spawn(async move {
            let send = Send {
                headers: &[
                    ("content-type", "application/json"),
                    ("x-codecell-session", &session),
                ],
                body: Some(body.to_string()),
            };
            answer(request(&http, Method::POST, &url, send)).await.ok()
        })
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(self.id.cast_signed()).unwrap();
        kill_process(id, signal).unwrap();
    }

    /// The processes that it started and that are still there.
    pub(crate) fn children(&self) -> Vec<u32> {
        let mut children = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap() {
            let name = entry.unwrap().file_name();
            let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if stat(id).is_some_and(|(_, parent)| parent == self.id) {
                children.push(id);
            }
        }
        children
    }

    /// Waits for its end: the code it exited with, and what it wrote to standard error.
    pub(crate) async fn ended(&mut self) -> (Option<i32>, String) {
        let stderr = self.child.stderr.take().unwrap();
        let ended = async { (self.child.wait().await.unwrap().code(), read(stderr).await) };
        tokio::time::timeout(PATIENCE, ended).await.unwrap()
    }
}

async fn read(mut stream: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut text = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut text)
        .await
        .unwrap();
    text
}

fn request(http: &reqwest::Client, method: Method, url: &str, send: Send<'_>) -> reqwest::RequestBuilder {
    let mut request = http.request(method, url);
    for (name, value) in send.headers {
        request = request.header(HeaderName::from_static(name), *value);
    }
    if let Some(body) = send.body {
        request = request.body(body);
    }
    request
}

async fn answer(request: reqwest::RequestBuilder) -> reqwest::Result<Answer> {
    let response = request.send().await?;
    Ok(Answer {
        status: response.status(),
        headers: response.headers().clone(),
        body: response.text().await?,
    })
}

/// The state of a process and the id of its parent.
fn stat(id: u32) -> Option<(char, u32)> {
    let mut text = String::new();
    let mut file = std::fs::File::open(format!("/proc/{id}/stat")).ok()?;
    file.read_to_string(&mut text).ok()?;
    // The name before it may hold anything, brackets too.
    let mut fields = text.rsplit(')').next()?.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Waits until none of these processes lives any more.
pub(crate) async fn gone(processes: &[u32]) {
    let lives = |id: &u32| stat(*id).is_some_and(|(state, _)| state != 'Z');
    until("the processes are gone", async || !processes.iter().any(lives)).await;
}

/// Waits for something outside this process, which nothing here can signal.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, waiting).await;
    assert!(waited.is_ok(), "never came about: {what}");
}
