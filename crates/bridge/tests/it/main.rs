//! How a wall drives a guest. The guest is a script, so that the loop is tested without an engine; time is the
//! runtime's own and stands still unless everybody waits.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod outside;
mod wall;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codecell_bridge::{
    Answer, BoxFuture, Call, CallId, Cell, Fault, Guest, Json, Leg, Outcome, Outside, Replay, Reply, Report,
    Request, Stop, Thrown, ToolHost, Wall, WallHost, WallLimits,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Tools named after what they do: `after:MS` answers its name, `now` does so without waiting, `fail:MS` throws, `crash`
/// and `crash:MS` panic, `never` waits for ever; `outside:MS` and `outside` do so outside, and `leaves:MS` goes there
/// after a while and stays.
#[derive(Default)]
struct Tools {
    started: Mutex<Vec<String>>,
    cancelled: Mutex<Vec<String>>,
    outside: Outside,
}

impl ToolHost for Tools {
    fn query(&self, question: &str) -> Result<String, Thrown> {
        Ok(question.to_owned())
    }

    fn check_replay(&self, requests: &[&Request]) -> Result<(), String> {
        match requests
            .iter()
            .find_map(|request| request.target().filter(|name| name.starts_with("fail")))
        {
            Some(unsafe_tool) => Err(format!("{unsafe_tool} is not replay-safe")),
            None => Ok(()),
        }
    }

    fn call(self: Arc<Self>, call: Call, cancel: CancellationToken) -> BoxFuture<Outcome> {
        Box::pin(async move {
            let name = call.request.target().unwrap();
            self.started.lock().unwrap().push(name.clone());
            let mut ms = name.split_once(':').map(|(_, ms)| ms.parse().unwrap());
            if name == "now" {
                return Answer::Ok(Json::of(&name).unwrap()).into();
            }
            assert_ne!(name, "crash");
            if name.starts_with("leaves") {
                sleep(ms.take()).await;
            }
            let goes = name.starts_with("outside") || name.starts_with("leaves");
            let _outside = goes.then(|| self.outside.enter(call.id));
            tokio::select! {
                () = cancel.cancelled() => {
                    self.cancelled.lock().unwrap().push(name);
                    Answer::Ok(Json::null()).into()
                }
                () = sleep(ms) => {
                    assert!(!name.starts_with("crash"));
                    if name.starts_with("fail") {
                        Answer::Error(Thrown::error("tool_error", name)).into()
                    } else {
                        Answer::Ok(Json::of(&name).unwrap()).into()
                    }
                }
            }
        })
    }
}

async fn sleep(ms: Option<u64>) {
    match ms {
        Some(0) => tokio::task::yield_now().await,
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
        None => std::future::pending().await,
    }
}

/// A guest that follows a script: what it asks for at each entry, and how it looks afterwards.
struct Script {
    port: Box<dyn WallHost>,
    entries: VecDeque<(Vec<Call>, Report)>,
    delivered: Vec<Reply>,
    refused: Vec<Thrown>,
    unhandled: Vec<Thrown>,
}

impl Script {
    fn new(wall: &Wall, entries: impl IntoIterator<Item = (Vec<Call>, Report)>) -> Self {
        let entries = entries.into_iter().collect();
        Self {
            port: wall.port(),
            entries,
            delivered: Vec::new(),
            refused: Vec::new(),
            unhandled: Vec::new(),
        }
    }

    fn enter(&mut self) -> Result<Report, Fault> {
        let (calls, report) = self.entries.pop_front().unwrap_or((Vec::new(), Report::Idle));
        for call in calls {
            self.refused.extend(self.port.call(call).err());
        }
        Ok(report)
    }
}

impl Guest for Script {
    async fn eval(&mut self, _: &Cell, _: &Stop) -> Result<Report, Fault> {
        self.enter()
    }

    async fn settle(&mut self, replies: &[Reply], _: &Stop) -> Result<Report, Fault> {
        self.delivered.extend_from_slice(replies);
        self.enter()
    }

    async fn unhandled(&mut self, _: &Stop) -> Result<Vec<Thrown>, Fault> {
        Ok(std::mem::take(&mut self.unhandled))
    }
}

fn wall(tools: &Arc<Tools>, replay: Replay) -> Wall {
    let host: Arc<Tools> = Arc::clone(tools);
    Wall::new(
        host,
        WallLimits {
            output_bytes: 1024,
            running_calls: 2,
        },
        replay,
        tools.outside.clone(),
    )
}

fn stop_after(ms: u64) -> Stop {
    Stop {
        deadline: (Instant::now() + Duration::from_millis(ms)).into_std(),
        cancel: CancellationToken::new(),
    }
}

fn cell() -> Cell {
    Cell {
        code: String::new(),
        seed: [1, 2],
        output_bytes: 1024,
    }
}

fn call(id: u32, target: &str) -> Call {
    let request = Request::CallValue {
        target: target.into(),
        args: None,
    };
    Call {
        id: CallId(id),
        request,
        line: Some(id),
        column: Some(1),
    }
}

fn request(id: u32, request: Request) -> Call {
    Call {
        id: CallId(id),
        request,
        line: None,
        column: None,
    }
}

fn completed() -> Report {
    Report::Completed { value: Json::null() }
}

fn done() -> Leg {
    Leg::Completed {
        value: Json::null(),
        notices: Vec::new(),
    }
}

fn ids(replies: &[Reply]) -> Vec<u32> {
    replies.iter().map(|reply| reply.id.0).collect()
}
