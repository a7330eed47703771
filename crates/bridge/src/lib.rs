//! What crosses the wall between a cell and its host.
//!
//! This crate knows no engine and no tool: it has the messages, the budgets and the loop that carries answers
//! back to a waiting guest. Whoever runs guests implements [`Guest`]; whoever runs tools implements [`ToolHost`];
//! [`Wall`] stands between them for the length of one run. It hands a waiting run back near the deadline, and at once
//! when whoever it waits for is [`Outside`].
//!
//! Values are JSON *text*, so that nothing is rounded or reordered on the way:
//!
//! ```
//! use codecell_bridge::{Json, Output, OutputFull, OutputLog};
//!
//! let big = Json::parse("123456789012345678901234567890")?;
//! assert_eq!(big.as_str(), "123456789012345678901234567890");
//!
//! let mut log = OutputLog::new(1024);
//! assert_eq!(log.push(Output::Json { value: big }), Ok(()));
//! assert_eq!(log.push(Output::Text { text: "x".repeat(2000) }), Err(OutputFull));
//! assert_eq!(log.take().len(), 3, "the number, the head of the text, and a marker");
//! # Ok::<(), serde_json::Error>(())
//! ```
mod budget;
mod dispatch;
mod guest;
mod host;
mod json;
mod message;
mod outside;
mod start;
mod wall;

pub use crate::{
    budget::OutputLog,
    dispatch::{MAX_CALLS_PER_RUN, MAX_QUEUED_CALLS, MAX_TIMERS, MAX_YIELDS},
    guest::{Fault, Guest, OutputFull, Stop, WallHost},
    host::{BoxFuture, Notice, NoticeKind, Outcome, ToolHost},
    json::Json,
    message::{Answer, Call, CallId, Cell, Frame, Output, Reply, Report, Request, Thrown},
    outside::{Outside, OutsideGuard},
    wall::{Leg, Parking, Replay, TakenOutput, Wake, Wall, WallLimits},
};
