//! What a model is told of what was said before.
use std::collections::HashMap;

use codecell_llm::{Block, Content, Message, ToolCall, ToolResult};
use codecell_sessions::{Entry, Outcome, Sessions, StoredEntry, replay};
use serde_json::Value;

use super::ask::BeginProblem;
use super::surface::visible_client_tool;
use crate::wiring::View;

/// What a model is told of what was said before, above the messages of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// Nothing: the request tells it all. The transcript keeps what is new in it.
    Told,
    /// Nothing: the request tells it all. A transcript that is still empty keeps all of it, so that a later request
    /// can go on from here.
    Introduced,
    /// Everything in the transcript of the session.
    Session,
    /// The transcript up to the end of this turn, which must be the last of the session.
    After(String),
}

/// What was said before a turn, read while nobody else can add to it.
pub(super) struct Past {
    entries: Vec<StoredEntry>,
    keeps_all: bool,
}

impl Past {
    /// Reads it for a turn of `session` that has its seat.
    pub(super) async fn read(
        sessions: &Sessions,
        session: &str,
        history: &History,
    ) -> Result<Self, BeginProblem> {
        let told = |entries| Self {
            entries,
            keeps_all: false,
        };
        Ok(match history {
            History::Told => told(Vec::new()),
            History::Introduced => Self {
                entries: Vec::new(),
                keeps_all: sessions.branch(session).await?.is_empty(),
            },
            History::Session => told(sessions.branch(session).await?),
            History::After(turn) => match sessions.up_to_run(turn).await? {
                Some(branch) if branch.is_newest && branch.session_key == session => told(branch.entries),
                _ => return Err(BeginProblem::GoneOn(session.to_owned())),
            },
        })
    }

    /// The messages for the model, and what of `said` the transcript keeps.
    pub(super) fn with(self, said: Vec<Message>, view: &View) -> (Vec<Message>, Vec<Entry>) {
        let new = if self.keeps_all {
            said.iter().flat_map(entries).collect()
        } else {
            new_entries(&said)
        };
        let mut messages = from_transcript(&self.entries, view);
        messages.extend(from_application(said, view));
        (messages, new)
    }
}

/// A transcript as messages: only calls of tools that the model is told of.
fn from_transcript(entries: &[StoredEntry], view: &View) -> Vec<Message> {
    let declared: Vec<&str> = view.visible.iter().map(|tool| tool.name.as_str()).collect();
    replay(entries, &declared).into_iter().map(message).collect()
}

fn message(said: codecell_sessions::Message) -> Message {
    match said {
        codecell_sessions::Message::User { text } => Message::user(text),
        codecell_sessions::Message::Assistant { text, calls } => {
            let text = (!text.is_empty()).then_some(Block::Text(text));
            let calls = calls.into_iter().map(|call| {
                Block::ToolCall(ToolCall {
                    id: call.tool_call_id,
                    name: call.name,
                    arguments: call.arguments.to_string(),
                    signature: None,
                })
            });
            Message::Assistant(text.into_iter().chain(calls).collect())
        }
        codecell_sessions::Message::ToolResult(result) => Message::ToolResult(ToolResult {
            call_id: result.tool_call_id,
            name: result.name,
            text: match result.result {
                Value::String(text) => text,
                value => value.to_string(),
            },
            images: Vec::new(),
            is_error: result.is_error,
        }),
    }
}

/// What an application says was said, without the calls that the model did not make: a cell made them, and the
/// model knows of no such tool.
fn from_application(said: Vec<Message>, view: &View) -> Vec<Message> {
    let mut kept: HashMap<String, String> = HashMap::new();
    let mut messages = Vec::new();
    for message in said {
        match message {
            Message::Assistant(blocks) => {
                let blocks: Vec<Block> = blocks
                    .into_iter()
                    .filter_map(|block| declared(block, view))
                    .collect();
                let calls = blocks.iter().filter_map(|block| match block {
                    Block::ToolCall(call) => Some((call.id.clone(), call.name.clone())),
                    _ => None,
                });
                kept.extend(calls);
                if !blocks.is_empty() {
                    messages.push(Message::Assistant(blocks));
                }
            }
            Message::ToolResult(mut result) => {
                if let Some(name) = kept.get(&result.call_id) {
                    result.name.clone_from(name);
                    messages.push(Message::ToolResult(result));
                }
            }
            user @ Message::User(_) => messages.push(user),
        }
    }
    messages
}

fn declared(block: Block, view: &View) -> Option<Block> {
    let Block::ToolCall(mut call) = block else {
        return Some(block);
    };
    let tool = visible_client_tool(view, &call.name)?;
    call.name.clone_from(&tool.name);
    Some(Block::ToolCall(call))
}

/// What the transcript keeps of the messages that are new: those after the last answer.
fn new_entries(messages: &[Message]) -> Vec<Entry> {
    let last_answer = messages
        .iter()
        .rposition(|message| !matches!(message, Message::User(_)));
    let new = messages.get(last_answer.map_or(0, |at| at + 1)..);
    new.unwrap_or_default().iter().flat_map(entries).collect()
}

/// A message as the transcript has it. Pictures are only named.
fn entries(message: &Message) -> Vec<Entry> {
    match message {
        Message::User(contents) => {
            let text = contents.iter().map(shown).collect::<Vec<_>>().join("\n");
            vec![Entry::User { text }]
        }
        Message::Assistant(blocks) => blocks.iter().filter_map(said).collect(),
        Message::ToolResult(result) => {
            let call = codecell_sessions::ToolCall::direct(&result.call_id, &result.name, Value::Null);
            let text = Value::from(result.text.as_str());
            vec![Entry::ToolResult(call.result(Outcome::Ok, text, 0))]
        }
    }
}

fn said(block: &Block) -> Option<Entry> {
    match block {
        Block::Text(text) => Some(Entry::Assistant { text: text.clone() }),
        Block::ToolCall(call) => {
            let arguments = serde_json::from_str(&call.arguments);
            let arguments = arguments.unwrap_or_else(|_| Value::from(call.arguments.as_str()));
            Some(Entry::ToolCall(codecell_sessions::ToolCall::direct(
                &call.id, &call.name, arguments,
            )))
        }
        Block::Thinking { .. } | Block::RedactedThinking(_) => None,
    }
}

fn shown(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Image(image) => format!("[{}]", image.mime_type),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use codecell_sessions::Limits;

    use super::*;

    fn user(text: &str) -> Entry {
        let text = text.to_owned();
        Entry::User { text }
    }

    #[tokio::test]
    async fn the_past_is_what_the_history_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.sqlite");
        let sessions = Sessions::open(&path, Limits::default()).await.unwrap();
        for (run, text) in [("one", "a"), ("two", "b")] {
            let now = SystemTime::UNIX_EPOCH;
            sessions
                .append("s", Some(run), vec![user(text)], now)
                .await
                .unwrap();
        }
        let both = || Some(vec![user("a"), user("b")]);
        for (session, history, expected, keeps_all) in [
            ("s", History::Told, Some(vec![]), false),
            ("s", History::Introduced, Some(vec![]), false),
            ("new", History::Introduced, Some(vec![]), true),
            ("s", History::Session, both(), false),
            ("s", History::After("two".into()), both(), false),
            // Somebody went on from it, it is another session's, or it was deleted: nothing is told from where it is
            // not the end.
            ("s", History::After("one".into()), None, false),
            ("new", History::After("two".into()), None, false),
            ("s", History::After("three".into()), None, false),
        ] {
            let past = Past::read(&sessions, session, &history).await;
            let kept = past.as_ref().is_ok_and(|past| past.keeps_all);
            let entries = match past {
                Ok(past) => Some(past.entries.into_iter().map(|stored| stored.entry).collect()),
                Err(BeginProblem::GoneOn(of)) if of == session => None,
                Err(other) => panic!("{other}"),
            };
            assert_eq!((entries, kept), (expected, keeps_all), "{session} {history:?}");
        }
    }

    #[test]
    fn a_transcript_keeps_what_is_new_in_words() {
        let picture = Content::Image(codecell_llm::Image {
            mime_type: "image/png".into(),
            data: "QUJD".into(),
        });
        let messages = [
            Message::user("old"),
            Message::Assistant(vec![Block::Text("answer".into())]),
            Message::User(vec![Content::Text("look".into()), picture]),
            Message::user("well?"),
        ];
        assert_eq!(new_entries(&messages), [user("look\n[image/png]"), user("well?")]);
    }
}
