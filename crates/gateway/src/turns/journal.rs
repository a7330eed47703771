//! What the transcript keeps of what a turn does.
use std::sync::Arc;

use codecell_agent::{Journal, JournalError, Kept};
use codecell_llm::ToolCall;
use codecell_sessions::{Entry, Outcome};
use serde_json::Value;

use super::scribe::Scribe;
use crate::wiring::{View, VisibleKind};

/// Keeps what the turn does in the transcript.
pub(super) struct TurnJournal {
    pub(super) scribe: Scribe,
    pub(super) view: Arc<View>,
}

impl TurnJournal {
    fn call(&self, call: &ToolCall) -> codecell_sessions::ToolCall {
        let arguments = call
            .parse_arguments()
            .map_or_else(|_| Value::from(call.arguments.as_str()), Value::Object);
        let tool = self.view.visible.iter().find(|tool| tool.name == call.name);
        match tool.map(|tool| &tool.kind) {
            Some(VisibleKind::Exec) => {
                let language = arguments.get("language").and_then(Value::as_str);
                let language = language.filter(|language| matches!(*language, "javascript" | "typescript"));
                codecell_sessions::ToolCall::cell(&call.id, language.map(str::to_owned).as_deref(), arguments)
            }
            Some(VisibleKind::Wait) => codecell_sessions::ToolCall::wait(&call.id, arguments),
            Some(VisibleKind::Direct(tool)) => codecell_sessions::ToolCall {
                catalog_id: Some(tool.id().to_string()),
                ..codecell_sessions::ToolCall::direct(&call.id, &call.name, arguments)
            },
            None => codecell_sessions::ToolCall::direct(&call.id, &call.name, arguments),
        }
    }

    fn entries(&self, what: &Kept) -> Vec<Entry> {
        match what {
            Kept::Reply(reply) => {
                let text = reply.text();
                let text = (!text.is_empty()).then_some(Entry::Assistant { text });
                let calls = reply.tool_calls().map(|call| Entry::ToolCall(self.call(call)));
                text.into_iter().chain(calls).collect()
            }
            Kept::Result {
                call,
                answer,
                took_ms,
            } => {
                let outcome = if answer.is_error {
                    Outcome::Error(None)
                } else {
                    Outcome::Ok
                };
                let seen = answer.images.iter().map(|image| format!("[{}]", image.mime_type));
                let text: Vec<String> = std::iter::once(answer.text.clone()).chain(seen).collect();
                let text = text.join("\n");
                let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
                vec![Entry::ToolResult(
                    self.call(call).result(outcome, value, *took_ms),
                )]
            }
        }
    }
}

impl Journal for TurnJournal {
    fn keep(&self, what: Kept) -> codecell_agent::BoxFuture<Result<(), JournalError>> {
        let (scribe, entries) = (self.scribe.clone(), self.entries(&what));
        Box::pin(async move { scribe.keep(entries).await })
    }
}
