use std::collections::{HashMap, HashSet};

use codecell_trajectory::{Outcome, ToolCall, ToolResult};
use serde_json::Value;

use crate::entry::{Entry, StoredEntry};

/// What a provider is told of a call that never got its answer.
pub const NO_RESULT: &str = "no result: the call was interrupted";

/// What a provider is sent of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// From a person.
    User {
        /// Their text.
        text: String,
    },
    /// From the model: text, calls or both. The results of all its calls follow, in their order.
    Assistant {
        /// Its text, empty if it only called.
        text: String,
        /// The tools it called.
        calls: Vec<ToolCall>,
    },
    /// The answer to a call of the message before.
    ToolResult(ToolResult),
}

/// Turns entries into messages for a provider whose request declares the tools `declared`.
///
/// Calls that cells made, calls of other tools and results without a call are left out. A call without a result
/// gets a failed one that says [`NO_RESULT`]: providers refuse a call that is not answered.
#[must_use]
pub fn replay(entries: &[StoredEntry], declared: &[&str]) -> Vec<Message> {
    let answers = answers(entries);
    let mut turns = Turns::default();
    for (at, stored) in entries.iter().enumerate() {
        match &stored.entry {
            Entry::User { text } => {
                turns.close();
                turns.messages.push(Message::User { text: text.clone() });
            }
            Entry::Assistant { text } => turns.say(text),
            Entry::ToolCall(call) if is_replayed(call, declared) => {
                turns.call(call, answers.get(&at).copied());
            }
            // A result ends the batch its call was in; what the model does next is another message.
            Entry::ToolResult(result) if result.parent_tool_call_id.is_none() => turns.answered = true,
            _ => {}
        }
    }
    turns.close();
    turns.messages
}

fn is_replayed(call: &ToolCall, declared: &[&str]) -> bool {
    call.parent_tool_call_id.is_none() && declared.contains(&call.name.as_str())
}

/// The result of each call, by the call's place. An id that is used again names its latest call.
fn answers(entries: &[StoredEntry]) -> HashMap<usize, &ToolResult> {
    let mut open = HashMap::new();
    let mut answers = HashMap::new();
    for (at, stored) in entries.iter().enumerate() {
        match &stored.entry {
            Entry::ToolCall(call) => {
                open.insert(call.tool_call_id.as_str(), at);
            }
            Entry::ToolResult(result) => {
                if let Some(call) = open.remove(result.tool_call_id.as_str()) {
                    answers.insert(call, result);
                }
            }
            _ => {}
        }
    }
    answers
}

#[derive(Default)]
struct Turns {
    messages: Vec<Message>,
    text: String,
    calls: Vec<ToolCall>,
    results: Vec<ToolResult>,
    answered: bool,
}

impl Turns {
    fn say(&mut self, text: &str) {
        self.close_answered();
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    fn call(&mut self, call: &ToolCall, result: Option<&ToolResult>) {
        self.close_answered();
        let interrupted = || call.result(Outcome::Error(None), Value::from(NO_RESULT), 0);
        self.results.push(result.cloned().unwrap_or_else(interrupted));
        self.calls.push(call.clone());
    }

    fn close_answered(&mut self) {
        if self.answered {
            self.close();
        }
    }

    fn close(&mut self) {
        self.answered = false;
        let (text, calls) = (std::mem::take(&mut self.text), std::mem::take(&mut self.calls));
        if !text.is_empty() || !calls.is_empty() {
            self.messages.push(Message::Assistant { text, calls });
        }
        self.messages
            .extend(self.results.drain(..).map(Message::ToolResult));
    }
}

/// The same entries with each call of a cell and its result moved behind the result of the `exec` or `wait` during
/// which it was settled. Those without such a result come at the end. For people: not for a provider.
#[must_use]
pub fn projected(entries: &[StoredEntry]) -> Vec<StoredEntry> {
    let mut shown = Vec::with_capacity(entries.len());
    let mut nested: Vec<Nested<'_>> = Vec::new();
    let mut returned = HashSet::new();
    for stored in entries {
        match &stored.entry {
            Entry::ToolCall(ToolCall {
                tool_call_id,
                parent_tool_call_id: Some(parent),
                ..
            }) => {
                nested.push(Nested {
                    id: tool_call_id,
                    parent,
                    call: stored,
                    result: None,
                });
            }
            Entry::ToolResult(ToolResult {
                tool_call_id,
                parent_tool_call_id: Some(_),
                ..
            }) => {
                match nested
                    .iter_mut()
                    .find(|one| one.id == tool_call_id && one.result.is_none())
                {
                    Some(one) => one.result = Some(stored),
                    None => shown.push(stored.clone()),
                }
            }
            Entry::ToolResult(result) => {
                shown.push(stored.clone());
                returned.insert(result.tool_call_id.as_str());
                nested.retain(|one| {
                    let here = one.parent == result.tool_call_id
                        || (result.name == "wait" && returned.contains(one.parent));
                    let stays = one.result.is_none() || !here;
                    if !stays {
                        one.show(&mut shown);
                    }
                    stays
                });
            }
            _ => shown.push(stored.clone()),
        }
    }
    nested.iter().for_each(|one| one.show(&mut shown));
    shown
}

struct Nested<'e> {
    id: &'e str,
    parent: &'e str,
    call: &'e StoredEntry,
    result: Option<&'e StoredEntry>,
}

impl Nested<'_> {
    fn show(&self, shown: &mut Vec<StoredEntry>) {
        shown.push(self.call.clone());
        shown.extend(self.result.cloned());
    }
}
