//! What happened in a session, for people: events, redaction, JSON Lines.
//!
//! It opens no file and decides nothing: callers say where lines go and when something happens. Nothing here is
//! async, and recording never fails the session it records. The lines are described in this crate's `README.md`.
//!
//! ```
//! use codecell_trajectory::{MemorySink, Outcome, Recorder, ToolCall, tree};
//! use serde_json::json;
//!
//! let sink = MemorySink::new(100);
//! let recorder = Recorder::new("session-1", sink.clone());
//!
//! let cell = ToolCall::cell("call_1", Some("javascript"), json!({ "code": "return await tools.read({ path: 'a' })" }));
//! let read = ToolCall::nested("call_1:1", "call_1", "openclaw:core:read", "read", json!({ "path": "a", "token": "t-1" }));
//! recorder.record(Some("run-1"), cell.clone());
//! recorder.record(Some("run-1"), read.clone());
//! recorder.record(Some("run-1"), read.result(Outcome::Ok, json!("text"), 3));
//! recorder.record(Some("run-1"), cell.result(Outcome::Ok, json!({ "status": "completed" }), 5));
//!
//! let cells = tree(&sink.events());
//! let nested = &cells[0].children[0];
//! assert_eq!(nested.catalog_id.as_deref(), Some("openclaw:core:read"));
//! let arguments = nested.call.data.as_ref().and_then(|data| data.get("arguments"));
//! assert_eq!(arguments, Some(&json!({ "path": "a", "token": "<redacted>" })));
//! ```

mod clock;
mod event;
mod limits;
mod read;
mod recorder;
mod redact;
mod sink;

pub use crate::{
    clock::{Clock, rfc3339},
    event::{
        ApprovalRequested, ApprovalResolved, EventKind, Happening, Outcome, SCHEMA_VERSION, Source,
        TRACE_SCHEMA, ToolCall, ToolResult, TrajectoryEvent,
    },
    limits::Limits,
    read::{CallNode, Problem, ReadWarning, Trace, parse_lines, tree},
    recorder::Recorder,
    redact::{OPAQUE, REDACTED, Redactor},
    sink::{JsonLines, MemorySink, Sink},
};
