//! One module per protocol: how a request is written and an answer is read.

pub(crate) mod chat;
pub(crate) mod google;
pub(crate) mod messages;
pub(crate) mod responses;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Message, ToolResult};

/// Makes an object of the fields that are there.
pub(crate) fn object(fields: Value) -> Map<String, Value> {
    match fields {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    }
}

/// A conversation, with results that follow each other in one place.
pub(crate) enum Turn<'a> {
    One(&'a Message),
    Results(Vec<&'a ToolResult>),
}

pub(crate) fn turns(messages: &[Message]) -> Vec<Turn<'_>> {
    let mut turns = Vec::new();
    for message in messages {
        match (message, turns.last_mut()) {
            (Message::ToolResult(result), Some(Turn::Results(results))) => results.push(result),
            (Message::ToolResult(result), _) => turns.push(Turn::Results(vec![result])),
            _ => turns.push(Turn::One(message)),
        }
    }
    turns
}

/// What providers say when they give up. `OpenAI`, Anthropic and Google spell it alike.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct ProviderError {
    message: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl ProviderError {
    pub(crate) fn text(self) -> String {
        match (self.kind, self.message) {
            (Some(kind), Some(message)) => format!("{kind}: {message}"),
            (None, Some(text)) | (Some(text), None) => text,
            (None, None) => "no reason given".to_owned(),
        }
    }
}
