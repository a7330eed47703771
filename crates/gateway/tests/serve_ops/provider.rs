//! A provider of models that says what a test tells it to, as chat completions.
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

/// Longest wait for something in another process: only broken code lets it pass.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the model does when it is asked.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Says something, in these pieces.
    Text(Vec<&'static str>),
    /// Calls a tool: its name and its arguments.
    Call(&'static str, Value),
    /// Says something and calls a tool.
    SaysAndCalls(&'static str, &'static str, Value),
    /// Says something and ends for this reason.
    Ends(&'static str, &'static str),
    /// Says something and, once the test lets it, the rest.
    Held(&'static str, &'static str),
    /// An error instead of an answer.
    Status(u16, Value),
    /// An error, and after how many seconds to come back.
    Later(u16, &'static str),
    /// Says something and ends before its end.
    Cut(&'static str),
    /// Says something, maybe nothing, and then nothing more for ever.
    Hangs(&'static str),
}

/// Runs a program.
pub(crate) fn cell(code: &str) -> Reply {
    Reply::Call("exec", json!({ "code": code }))
}

/// An error of this status.
pub(crate) fn refuses(status: u16) -> Reply {
    Reply::Status(status, no())
}

fn no() -> Value {
    json!({ "error": { "message": "the provider says no" } })
}

/// The provider. It lives as long as the test's runtime.
pub(crate) struct Provider {
    url: String,
    play: Arc<Play>,
}

struct Play {
    replies: Mutex<VecDeque<Reply>>,
    seen: Mutex<Vec<Value>>,
    asked: Notify,
    gate: Semaphore,
    left: Semaphore,
}

impl Provider {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let play = Arc::new(Play {
            replies: Mutex::new(replies.into_iter().collect()),
            seen: Mutex::default(),
            asked: Notify::new(),
            gate: Semaphore::new(0),
            left: Semaphore::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let routes = Router::new()
            .route("/v1/chat/completions", post(answer))
            .with_state(Arc::clone(&play));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { url, play }
    }

    /// A configuration in which the main agent uses this provider, with these blocks beside.
    pub(crate) fn config(&self, more: Value) -> Value {
        let mut config = json!({
            "models": { "providers": { "fake": { "baseUrl": self.url, "models": ["small", "big"] } } },
            "agents": { "defaults": { "model": "fake/small" } },
        });
        for (block, value) in more.as_object().unwrap() {
            config[block] = value.clone();
        }
        config
    }

    /// What was asked so far.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.play.seen.lock().unwrap().clone()
    }

    /// The messages of the last request.
    pub(crate) fn last_messages(&self) -> Vec<Value> {
        let seen = self.seen();
        seen.last().unwrap()["messages"].as_array().unwrap().clone()
    }

    /// Waits until it was asked so often.
    pub(crate) async fn asked(&self, times: usize) {
        let waiting = async {
            loop {
                let asked = self.play.asked.notified();
                if self.seen().len() >= times {
                    return;
                }
                asked.await;
            }
        };
        timeout(PATIENCE, waiting).await.unwrap();
    }

    /// Lets one that is held go on.
    pub(crate) fn let_go(&self) {
        self.play.gate.add_permits(1);
    }

    /// Waits until whoever asked has hung up on one that hangs.
    pub(crate) async fn left(&self) {
        let left = timeout(PATIENCE, self.play.left.acquire()).await;
        left.unwrap().unwrap().forget();
    }
}

async fn answer(State(play): State<Arc<Play>>, body: String) -> Response {
    let number = {
        let mut seen = play.seen.lock().unwrap();
        seen.push(serde_json::from_str(&body).unwrap());
        seen.len()
    };
    play.asked.notify_waiters();
    let reply = play.replies.lock().unwrap().pop_front();
    let said = |text: &str| match text {
        "" => String::new(),
        text => chunk(&json!({ "content": text }), None),
    };
    let called = |name: &str, arguments: &Value| {
        let call = json!({
            "index": 0,
            "id": format!("model_call_{number}"),
            "type": "function",
            "function": { "name": name, "arguments": arguments.to_string() },
        });
        [chunk(&json!({ "tool_calls": [call] }), None), done("tool_calls")].concat()
    };
    let refused = |status: u16, body: &Value| {
        let status = StatusCode::from_u16(status).unwrap();
        (status, body.to_string()).into_response()
    };
    match reply.unwrap_or_else(|| Reply::Status(400, no())) {
        Reply::Text(pieces) => {
            let pieces = pieces.iter().map(|piece| said(piece)).chain([done("stop")]);
            events(whole(pieces.collect()))
        }
        Reply::Call(name, arguments) => events(whole(called(name, &arguments))),
        Reply::SaysAndCalls(text, name, arguments) => events(whole(said(text) + &called(name, &arguments))),
        Reply::Ends(text, reason) => events(whole([said(text), done(reason)].concat())),
        Reply::Held(first, rest) => {
            let rest = [said(rest), done("stop")].concat();
            let last = stream::once(async move {
                play.gate.acquire().await.unwrap().forget();
                Ok(rest)
            });
            events(whole(said(first)).chain(last))
        }
        Reply::Status(status, body) => refused(status, &body),
        Reply::Later(status, seconds) => {
            let mut response = refused(status, &no());
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, seconds.parse().unwrap());
            response
        }
        Reply::Cut(text) => events(whole(said(text))),
        Reply::Hangs(text) => {
            let guard = Leaving(play);
            let hanging = stream::once(async move {
                let _guard = guard;
                std::future::pending().await
            });
            events(whole(format!(": hello\n\n{}", said(text))).chain(hanging))
        }
    }
}

/// Tells that its connection is gone.
struct Leaving(Arc<Play>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.left.add_permits(1);
    }
}

fn whole(text: String) -> impl Stream<Item = Result<String, io::Error>> {
    stream::iter([Ok(text)])
}

fn events(frames: impl Stream<Item = Result<String, io::Error>> + Send + 'static) -> Response {
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "id": "chatcmpl-1", "choices": [choice] }))
}

fn done(finish: &str) -> String {
    let usage = json!({
        "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12,
        "prompt_tokens_details": { "cached_tokens": 4 },
    });
    let last = json!({ "id": "chatcmpl-1", "choices": [], "usage": usage });
    let end = chunk(&json!({}), Some(finish));
    format!("{end}data: {last}\n\ndata: [DONE]\n\n")
}
