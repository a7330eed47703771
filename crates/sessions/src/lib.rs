//! Keeps what was said in sessions: append-only transcripts in one SQLite file.
//!
//! It calls no model and runs no tool, and it never reads the clock: callers pass `now`. One thread owns the file
//! and does one thing after another; every method waits for it without blocking the caller's thread. Several
//! processes may share a file.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use codecell_sessions::{Entry, Limits, Message, Outcome, Sessions, ToolCall, replay};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("sessions.sqlite");
//! let sessions = Sessions::open(&path, Limits::default()).await?;
//! let cell = ToolCall::cell("call_1", None, json!({ "code": "return await tools.read({ path: 'a' })" }));
//! let read = ToolCall::nested("call_1:1", "call_1", "openclaw:core:read", "read", json!({ "path": "a" }));
//! let said = vec![
//!     Entry::User { text: "what is in a?".into() },
//!     Entry::ToolCall(cell.clone()),
//!     Entry::ToolCall(read.clone()),
//!     Entry::ToolResult(read.result(Outcome::Ok, json!("text"), 1)),
//!     Entry::ToolResult(cell.result(Outcome::Ok, json!({ "status": "completed" }), 2)),
//! ];
//! sessions.append("agent:main:main", Some("run-1"), said, SystemTime::now()).await?;
//!
//! let branch = sessions.branch("agent:main:main").await?;
//! assert_eq!(branch.len(), 5);
//! let messages = replay(&branch, &["exec", "wait"]);
//! assert_eq!(messages.len(), 3, "the model never called `read`");
//! assert!(matches!(messages[0], Message::User { .. }));
//! # Ok(())
//! # }
//! ```

mod entry;
mod error;
mod export;
mod file;
mod replay;
mod sessions;

pub use codecell_trajectory::{Outcome, ToolCall, ToolResult};

pub use crate::{
    entry::{Entry, Receipt, RunBranch, Session, StoredEntry},
    error::SessionError,
    export::export,
    file::{Limits, SCHEMA_VERSION},
    replay::{Message, NO_RESULT, projected, replay},
    sessions::Sessions,
};
