//! Watches the nested calls of one cell: for the transcript, for people who look on, and for the counts.
use std::sync::OnceLock;
use std::time::Duration;

use codecell::{Answer, CallEnd, CallOutcome, CellLeg, NestedCall, Observer};
use codecell_sessions::{Entry, Outcome, ToolCall};
use serde_json::Value;
use tokio::sync::mpsc;

use super::scribe::Scribe;

/// What a nested call tells those who look on. May hold secrets of the user: for their own eyes, not for logs.
#[derive(Clone, Debug)]
pub(crate) enum NestedNews {
    /// A call says how far it is.
    Progress {
        /// The tool as the program spelled it.
        tool: String,
        message: String,
    },
    /// A call ended.
    Ended {
        /// The tool as the program spelled it.
        tool: String,
        outcome: CallOutcome,
        took: Duration,
    },
}

/// Watches the cell that one call of `exec` started.
pub(super) struct CellWatch {
    /// The model's call, under which the nested ones are filed.
    parent: String,
    scribe: Scribe,
    news: Option<mpsc::Sender<NestedNews>>,
    cell: OnceLock<String>,
}

impl CellWatch {
    pub(super) fn new(parent: String, scribe: Scribe, news: Option<mpsc::Sender<NestedNews>>) -> Self {
        Self {
            parent,
            scribe,
            news,
            cell: OnceLock::new(),
        }
    }

    /// The name of the cell, once it runs.
    pub(super) fn cell(&self) -> Option<&str> {
        self.cell.get().map(String::as_str)
    }

    fn tell(&self, news: impl FnOnce() -> NestedNews) {
        if let Some(listeners) = &self.news {
            // One that reads slowly misses some; the transcript has them all.
            let _ = listeners.try_send(news());
        }
    }

    fn id(&self, call: &NestedCall) -> String {
        format!("{}.{}", self.parent, call.number)
    }

    fn entry(&self, call: &NestedCall) -> ToolCall {
        let arguments = call.arguments.as_ref();
        let arguments = arguments.map_or(Value::Null, |json| json.read().unwrap_or_default());
        let mut entry = ToolCall::nested(self.id(call), &self.parent, "", &call.tool, arguments);
        entry.catalog_id = call.id.as_ref().map(ToString::to_string);
        entry
    }
}

impl Observer for CellWatch {
    fn leg_started(&self, leg: &CellLeg<'_>) {
        if leg.tool == "exec" {
            let _ = self.cell.set(leg.id.to_owned());
        }
    }

    fn call_started(&self, call: &NestedCall) {
        self.scribe.begun(Entry::ToolCall(self.entry(call)));
    }

    fn call_finished(&self, call: &NestedCall, end: &CallEnd<'_>) {
        let (outcome, value) = match end.answer {
            Answer::Ok(value) => (Outcome::Ok, value.read().unwrap_or_default()),
            Answer::Error(thrown) => (
                Outcome::Error(thrown.code.clone()),
                serde_json::to_value(thrown).unwrap_or_default(),
            ),
        };
        let took = u64::try_from(end.took.as_millis()).unwrap_or(u64::MAX);
        let result = self.entry(call).result(outcome, value, took);
        self.scribe.ended(Entry::ToolResult(result));
        self.tell(|| NestedNews::Ended {
            tool: call.tool.clone(),
            outcome: end.outcome,
            took: end.took,
        });
    }

    fn hears_progress(&self) -> bool {
        self.news.as_ref().is_some_and(|news| !news.is_closed())
    }

    fn call_progress(&self, call: &NestedCall, message: &str) {
        self.tell(|| NestedNews::Progress {
            tool: call.tool.clone(),
            message: message.to_owned(),
        });
    }
}
