//! Runs agent turns: asks a model, carries out the tool calls it makes, gives it the results, until it is done.
//!
//! It knows neither where tools come from nor how a provider is reached: the tools are a [`ToolSurface`], the model is
//! a [`Model`], what is to be kept goes to a [`Journal`]. Code mode and direct exposure are two surfaces.
//!
//! ```
//! # use std::collections::VecDeque;
//! # use std::sync::{Arc, Mutex};
//! # use codecell_agent::*;
//! # use codecell_llm::{Api, Block, Event as Said, Guard, Message, Reply, Request, StopReason, Tool, ToolCall, Usage};
//! # use serde_json::{Value, json};
//! # use tokio::sync::mpsc;
//! # use tokio_util::sync::CancellationToken;
//! # struct Scripted(Mutex<VecDeque<Reply>>);
//! # struct Once(Option<Reply>);
//! # impl Model for Scripted {
//! #     fn api(&self) -> Api { Api::OpenAiCompletions }
//! #     fn ask<'a>(&'a self, _: &'a Request, _: &'a Guard<'a>, _: &'a CancellationToken) -> Asking<'a> {
//! #         let reply = self.0.lock().unwrap().pop_front();
//! #         Box::pin(async { Ok(Box::new(Once(reply)) as Box<dyn ModelStream>) })
//! #     }
//! # }
//! # impl ModelStream for Once {
//! #     fn next(&mut self) -> Arriving<'_> {
//! #         let reply = self.0.take();
//! #         Box::pin(async { reply.map(|reply| Ok(Said::Done(reply))) })
//! #     }
//! # }
//! # fn reply(block: Block, stop: StopReason) -> Reply {
//! #     Reply { id: None, model: None, blocks: vec![block], stop, usage: Usage::default() }
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! struct Clock;
//!
//! impl ToolSurface for Clock {
//!     fn tools(&self) -> Vec<Tool> {
//!         let parameters = json!({ "type": "object" });
//!         vec![Tool { name: "time".into(), description: "Tells the time.".into(), parameters }]
//!     }
//!
//!     fn check_payload(&self, _api: Api, _body: &mut Value) -> Result<(), String> {
//!         Ok(())
//!     }
//!
//!     fn call(&self, _call: SurfaceCall) -> BoxFuture<Step> {
//!         Box::pin(async { Step::Done(Answer::ok("noon")) })
//!     }
//! }
//!
//! // A model that calls the tool and then says what it read.
//! # let call = ToolCall { id: "c1".into(), name: "time".into(), arguments: String::new(), signature: None };
//! # let model = Scripted(Mutex::new(VecDeque::from([
//! #     reply(Block::ToolCall(call), StopReason::ToolUse),
//! #     reply(Block::Text("It is noon.".into()), StopReason::Stop),
//! # ])));
//! let turn = Turn {
//!     model: Arc::new(model),
//!     surface: Arc::new(Clock),
//!     journal: Arc::new(NoJournal),
//!     request: Request { messages: vec![Message::user("What time is it?")], ..Request::default() },
//!     limits: Limits::default(),
//!     cancel: CancellationToken::new(),
//! };
//! let (events, mut listener) = mpsc::channel(64);
//! let end = turn.run(events).await;
//! assert!(matches!(end.stop, Stop::Done));
//! assert_eq!((end.text.as_str(), end.rounds), ("It is noon.", 2));
//! assert_eq!(end.messages.len(), 3, "the call, its result, the answer");
//! assert!(matches!(listener.recv().await, Some(Event::RoundStarted { round: 1 })));
//! # }
//! ```

mod ask;
mod batch;
mod event;
mod halt;
mod ids;
mod journal;
mod model;
mod reply;
mod run;
mod surface;
mod tell;
mod turn;

pub use crate::{
    event::{Event, Stop, TurnEnd, TurnError},
    journal::{Journal, JournalError, Kept, NoJournal},
    model::{Arriving, Asking, Model, ModelStream},
    surface::{Answer, BoxFuture, ClientCall, Step, SurfaceCall, Suspended, ToolSurface},
    turn::{Limits, Turn},
};
