//! A provider of models that says what a test tells it to, as chat completions.
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};

/// What the model does when it is asked.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Says something, in these pieces.
    Text(Vec<&'static str>),
    /// Calls a tool: its name and its arguments.
    Call(&'static str, Value),
    /// Says something and, once the test lets it, the rest.
    Held(&'static str, &'static str),
    /// An error instead of an answer.
    Status(u16, Value),
    /// Breaks off after it has said something.
    Cut(&'static str),
}

/// The provider. It lives as long as the test's runtime.
#[derive(Clone)]
pub(crate) struct Provider {
    url: String,
    play: Arc<Play>,
}

struct Play {
    replies: Mutex<VecDeque<Reply>>,
    seen: Mutex<Vec<Value>>,
    asked: Notify,
    gate: Semaphore,
}

impl Provider {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let play = Arc::new(Play {
            replies: Mutex::new(replies.into_iter().collect()),
            seen: Mutex::default(),
            asked: Notify::new(),
            gate: Semaphore::new(0),
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

    /// Waits until it was asked so often.
    pub(crate) async fn asked(&self, times: usize) {
        loop {
            let asked = self.play.asked.notified();
            if self.seen().len() >= times {
                return;
            }
            asked.await;
        }
    }

    /// Lets one that is held go on.
    pub(crate) fn let_go(&self) {
        self.play.gate.add_permits(1);
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
    let Some(reply) = reply else {
        let error = json!({ "error": { "message": "the script is over" } });
        return (StatusCode::BAD_REQUEST, error.to_string()).into_response();
    };
    let said = |text: &str| chunk(&json!({ "content": text }), None);
    let pieces: Vec<String> = match reply {
        Reply::Status(status, body) => {
            return (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response();
        }
        Reply::Text(pieces) => pieces.into_iter().map(said).chain([done("stop")]).collect(),
        Reply::Call(name, arguments) => {
            let call = json!({
                "index": 0,
                "id": format!("call_{number}"),
                "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() },
            });
            vec![chunk(&json!({ "tool_calls": [call] }), None), done("tool_calls")]
        }
        Reply::Cut(text) => vec![said(text)],
        Reply::Held(first, rest) => {
            let rest = [said(rest), done("stop")].concat();
            let last = stream::once(async move {
                play.gate.acquire().await.unwrap().forget();
                rest
            });
            let all = stream::iter([said(first)]).chain(last).map(Ok::<_, Infallible>);
            return events(Body::from_stream(all));
        }
    };
    events(Body::from(pieces.concat()))
}

fn events(body: Body) -> Response {
    ([("content-type", "text/event-stream")], body).into_response()
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "id": "chatcmpl-1", "choices": [choice] }))
}

fn done(finish: &str) -> String {
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12 });
    let last = json!({ "id": "chatcmpl-1", "choices": [], "usage": usage });
    format!(
        "{}data: {last}\n\ndata: [DONE]\n\n",
        chunk(&json!({}), Some(finish))
    )
}
