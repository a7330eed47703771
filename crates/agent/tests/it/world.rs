//! Everything around a turn: tools that do what their names say, a journal, and a log of what happened to whom.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codecell_agent::{
    Answer, BoxFuture, ClientCall, Event, Journal, JournalError, Kept, Limits, Step, Stop, SurfaceCall,
    Suspended, ToolSurface, Turn, TurnEnd,
};
use codecell_llm::{Api, Block, Image, Message, Request, Tool, ToolResult};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::script::{self, Script};

/// The tools there are. `held` and `client` go on when their call is released, `client_twice` needs that twice.
pub(crate) const TOOLS: [&str; 10] = [
    "echo",
    "picture",
    "fail",
    "held",
    "alone",
    "deaf",
    "crash",
    "client",
    "client_twice",
    "client_alone",
];

/// What happened, in order. It may do something when a line is written.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    lines: Vec<String>,
    cancel: Option<(When, CancellationToken)>,
}

/// When a turn is cancelled.
#[derive(Clone, Debug)]
pub(crate) enum When {
    Line(&'static str),
    Count(usize),
}

impl Log {
    pub(crate) fn push(&self, line: impl Into<String>) {
        let mut written = self.0.lock().unwrap();
        written.lines.push(line.into());
        let fires = |when: &When| match when {
            When::Line(line) => written.lines.last().is_some_and(|last| last == line),
            When::Count(count) => written.lines.len() == *count,
        };
        if let Some((when, cancel)) = &written.cancel
            && fires(when)
        {
            cancel.cancel();
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().lines.clone()
    }

    pub(crate) fn lines_with(&self, word: &str) -> Vec<String> {
        let mut lines = self.lines();
        lines.retain(|line| line.contains(word));
        lines
    }
}

/// A turn before it begins.
pub(crate) struct World {
    pub(crate) limits: Limits,
    pub(crate) request: Request,
    pub(crate) cancel: CancellationToken,
    /// Room for events that nobody has listened to.
    pub(crate) room: usize,
    /// What the guard of bodies says.
    pub(crate) guard: Result<(), String>,
    /// How many things the journal keeps before it fails.
    pub(crate) keeps: usize,
    /// Whether the model tells of calls before they are complete.
    pub(crate) tells_calls: bool,
    pub(crate) log: Log,
    pub(crate) gates: Gates,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            limits: Limits::default(),
            request: Request {
                messages: vec![Message::user("go")],
                ..Request::default()
            },
            cancel: CancellationToken::new(),
            room: 1000,
            guard: Ok(()),
            keeps: usize::MAX,
            tells_calls: true,
            log: Log::default(),
            gates: Gates::default(),
        }
    }

    pub(crate) fn cancel_when(self, when: When) -> Self {
        self.log.0.lock().unwrap().cancel = Some((when, self.cancel.clone()));
        self
    }

    pub(crate) fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn turn(&self, answers: impl IntoIterator<Item = script::Answer>) -> Turn {
        Turn {
            model: Arc::new(Script::new(answers, self.tells_calls, self.log.clone())),
            surface: Arc::new(Tools {
                guard: self.guard.clone(),
                log: self.log.clone(),
                gates: self.gates.clone(),
            }),
            journal: Arc::new(Transcript {
                log: self.log.clone(),
                left: Mutex::new(self.keeps),
            }),
            request: self.request.clone(),
            limits: self.limits,
            cancel: self.cancel.clone(),
        }
    }

    /// Begins the turn; the model gives these answers.
    pub(crate) fn start(&self, answers: impl IntoIterator<Item = script::Answer>) -> Playing {
        let (events, listener) = mpsc::channel(self.room);
        Playing {
            task: tokio::spawn(self.turn(answers).run(events)),
            listener: Some(listener),
            heard: Vec::new(),
        }
    }

    /// Plays the turn to its end.
    pub(crate) async fn play(&self, answers: impl IntoIterator<Item = script::Answer>) -> Played {
        self.start(answers).end().await
    }
}

/// A turn under way, with a listener.
pub(crate) struct Playing {
    task: JoinHandle<TurnEnd>,
    listener: Option<mpsc::Receiver<Event>>,
    heard: Vec<String>,
}

/// A turn that is over.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) end: TurnEnd,
    pub(crate) heard: Vec<String>,
}

impl Playing {
    /// Listens up to this event.
    pub(crate) async fn hear(&mut self, line: &str) {
        loop {
            let event = in_time(self.listener.as_mut().unwrap().recv()).await.flatten();
            let event = event.unwrap_or_else(|| panic!("no `{line}` after {:#?}", self.heard));
            let heard = show(&event);
            self.heard.push(heard.clone());
            if heard == line {
                return;
            }
        }
    }

    /// Listens no more.
    pub(crate) fn leave(&mut self) {
        self.listener = None;
    }

    /// What the turn returns, with nobody listening meanwhile.
    pub(crate) async fn returned(&mut self) -> TurnEnd {
        in_time(&mut self.task)
            .await
            .expect("the turn does not end")
            .unwrap()
    }

    /// What is still to be heard.
    pub(crate) async fn rest(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        let listener = self.listener.as_mut().unwrap();
        while let Some(event) = in_time(listener.recv()).await.expect("the turn does not end") {
            heard.push(show(&event));
        }
        heard
    }

    pub(crate) async fn end(mut self) -> Played {
        let rest = self.rest().await;
        self.heard.extend(rest);
        Played {
            end: self.returned().await,
            heard: self.heard,
        }
    }
}

impl Played {
    /// Checks all events, and all messages that were added.
    pub(crate) fn check(&self, heard: &[&str], said: &[&str]) {
        assert_eq!(self.heard, heard);
        assert_eq!(show_messages(&self.end.messages), said);
    }
}

pub(crate) fn show(event: &Event) -> String {
    match event {
        Event::RoundStarted { round } => format!("round {round}"),
        Event::Text(text) => format!("text {text}"),
        Event::Thinking(text) => format!("thinking {text}"),
        Event::CallStarted { id, name } => format!("call {id} {name}"),
        Event::CallEnded { id, answer, .. } => format!("{} {id}: {}", outcome(answer.is_error), answer.text),
        Event::RoundEnded { round, .. } => format!("round {round} over"),
        Event::Suspended { calls } => {
            let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
            format!("suspended {}", ids.join(" "))
        }
        Event::Resumed => "resumed".into(),
        Event::Ended(end) => format!("ended {}", show_stop(&end.stop)),
    }
}

pub(crate) fn show_stop(stop: &Stop) -> String {
    match stop {
        Stop::Refused(text) | Stop::Limit(text) => format!("{}: {text}", stop.name()),
        Stop::Failed(error) => format!("failed: {error}"),
        Stop::Done | Stop::Length | Stop::Aborted => stop.name().into(),
    }
}

pub(crate) fn show_messages(messages: &[Message]) -> Vec<String> {
    let mut lines = Vec::new();
    for message in messages {
        match message {
            Message::User(_) => lines.push("user".to_owned()),
            Message::Assistant(blocks) => {
                let blocks: Vec<_> = blocks.iter().map(show_block).collect();
                lines.push(format!("model: {}", blocks.join(" + ")));
            }
            Message::ToolResult(ToolResult {
                call_id,
                text,
                is_error,
                ..
            }) => lines.push(format!("{} {call_id}: {text}", outcome(*is_error))),
        }
    }
    lines
}

fn show_block(block: &Block) -> String {
    match block {
        Block::Text(text) => text.clone(),
        Block::Thinking { text, .. } => format!("({text})"),
        Block::RedactedThinking(_) => "(sealed)".into(),
        Block::ToolCall(call) => format!("call {}", call.id),
    }
}

fn outcome(is_error: bool) -> &'static str {
    if is_error { "error" } else { "result" }
}

/// Calls that wait, by their ids. Released before it waits, a call goes on at once.
#[derive(Clone, Default)]
pub(crate) struct Gates {
    gates: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
    open: bool,
}

impl Gates {
    /// Gates through which everybody may pass.
    pub(crate) fn open() -> Self {
        Self {
            open: true,
            ..Self::default()
        }
    }

    pub(crate) fn release(&self, id: &str) {
        self.gate(id).add_permits(1);
    }

    async fn pass(&self, id: &str) {
        if !self.open {
            self.gate(id).acquire().await.unwrap().forget();
        }
    }

    fn gate(&self, id: &str) -> Arc<Semaphore> {
        let new = || Arc::new(Semaphore::new(0));
        self.gates
            .lock()
            .unwrap()
            .entry(id.to_owned())
            .or_insert_with(new)
            .clone()
    }
}

struct Tools {
    guard: Result<(), String>,
    log: Log,
    gates: Gates,
}

impl ToolSurface for Tools {
    fn tools(&self) -> Vec<Tool> {
        let tool = |name: &str| Tool {
            name: name.into(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        };
        TOOLS.map(tool).into()
    }

    fn check_payload(&self, api: Api, body: &mut Value) -> Result<(), String> {
        let tools = body["tools"].as_array().unwrap().len();
        self.log.push(format!("checked {api} with {tools} tools"));
        self.guard.clone()
    }

    fn is_sequential(&self, name: &str) -> bool {
        self.log.push(format!("looked at {name}"));
        name.ends_with("alone")
    }

    fn call(&self, call: SurfaceCall) -> BoxFuture<Step> {
        let (log, gates) = (self.log.clone(), self.gates.clone());
        Box::pin(async move {
            let id = call.id.as_str();
            log.push(format!("{id} starts"));
            match call.name.as_str() {
                "echo" => done(Answer::ok(Value::Object(call.arguments).to_string())),
                "picture" => done(Answer {
                    images: vec![picture()],
                    ..Answer::ok("see")
                }),
                "fail" => done(Answer::error("it failed")),
                "crash" => panic!("as asked"),
                "held" | "alone" => tokio::select! {
                    () = gates.pass(id) => done(Answer::ok("held no more")),
                    () = call.cancel.cancelled() => {
                        log.push(format!("{id} is cancelled"));
                        done(Answer::error("stopped in time"))
                    }
                },
                "deaf" => {
                    let _dropped = Dropped(log, call.id);
                    std::future::pending().await
                }
                name => {
                    let rest = usize::from(name == "client_twice");
                    Step::Suspended(suspended(call.id, 1, rest, log, gates))
                }
            }
        })
    }
}

pub(crate) fn picture() -> Image {
    Image {
        mime_type: "image/png".into(),
        data: "AAAA".into(),
    }
}

fn done(answer: Answer) -> Step {
    Step::Done(answer)
}

/// Waits for the application for the `time`th time, and then for `rest` times more. Does not look whether it is
/// cancelled.
fn suspended(id: String, time: usize, rest: usize, log: Log, gates: Gates) -> Suspended {
    let call = ClientCall {
        id: format!("{id}/{time}"),
        name: "theirs".into(),
        arguments: "{}".into(),
    };
    let dropped = Dropped(log.clone(), id.clone());
    let resume = async move {
        gates.pass(&id).await;
        log.push(format!("{id} goes on"));
        std::mem::forget(dropped);
        match rest.checked_sub(1) {
            None => done(Answer::ok(format!("answered {time} times"))),
            Some(rest) => Step::Suspended(suspended(id, time + 1, rest, log, gates)),
        }
    };
    Suspended {
        calls: vec![call],
        resume: Box::pin(resume),
    }
}

/// Says that a call was given up.
struct Dropped(Log, String);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.push(format!("{} is dropped", self.1));
    }
}

struct Transcript {
    log: Log,
    left: Mutex<usize>,
}

impl Journal for Transcript {
    fn keep(&self, what: Kept) -> BoxFuture<Result<(), JournalError>> {
        let line = match &what {
            Kept::Reply(reply) => {
                let blocks: Vec<_> = reply.blocks.iter().map(show_block).collect();
                format!("kept model: {}", blocks.join(" + "))
            }
            Kept::Result {
                call,
                answer,
                took_ms,
            } => {
                let answer = format!("{} {}: {}", outcome(answer.is_error), call.id, answer.text);
                format!("kept {answer} after {took_ms} ms")
            }
        };
        let mut left = self.left.lock().unwrap();
        let kept = left
            .checked_sub(1)
            .ok_or_else(|| JournalError("disk full".into()));
        *left = left.saturating_sub(1);
        match kept {
            Ok(_) => self.log.push(line),
            Err(_) => self.log.push("not kept"),
        }
        Box::pin(async move { kept.map(drop) })
    }
}

/// Lets this much of the time that stands still pass, once everybody waits.
pub(crate) async fn pass(seconds: u64) {
    let never = std::future::pending::<()>();
    let _ = tokio::time::timeout(Duration::from_secs(seconds), never).await;
}

/// Nothing, if this never happens: the clock only gets so far when everybody waits for ever.
async fn in_time<T>(event: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(Duration::from_secs(86_400), event)
        .await
        .ok()
}
