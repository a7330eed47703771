//! What both APIs ask for.
use std::collections::HashSet;

use codecell::Json;
use codecell::tools::ToolDefinition;
use codecell_llm::{Block, Message};
use serde_json::Value;

use super::super::error::ApiError;
use super::part::Part;

/// What a request wants, however it is spelled.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    /// The name of a model, as the request spells it.
    pub(super) model: String,
    pub(super) said: Said,
    pub(super) tools: Vec<ToolDefinition>,
    pub(super) max_output_tokens: Option<u64>,
    pub(super) temperature: Option<f64>,
}

/// What a request says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// Something new, at the end of what was said before.
    New {
        instructions: Option<String>,
        messages: Vec<Message>,
    },
    /// The outputs of the calls that a turn waits for. Whatever comes before them the turn knows better.
    Outputs(Vec<Output>),
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Output {
    pub(super) call: String,
    pub(super) text: String,
    /// Where the request names the call.
    pub(super) path: String,
}

impl Output {
    /// The output as the program gets it: the JSON value that it spells, or else its text.
    pub(super) fn value(&self) -> Json {
        let is_json = serde_json::from_str::<Value>(&self.text).is_ok();
        let json = is_json.then(|| Json::parse(&self.text).ok()).flatten();
        json.or_else(|| Json::of(&self.text).ok())
            .unwrap_or_else(Json::null)
    }
}

/// A conversation, as it is read from its beginning.
#[derive(Default)]
pub(super) struct Conversation {
    instructions: Vec<String>,
    messages: Vec<Message>,
    /// The outputs that nothing was said after.
    outputs: Vec<Output>,
}

impl Conversation {
    /// Instructions count from the beginning, wherever they stand.
    pub(super) fn instruct(&mut self, text: String) {
        if !text.trim().is_empty() {
            self.instructions.push(text);
        }
    }

    pub(super) fn user(&mut self, message: Message) {
        self.outputs.clear();
        self.messages.push(message);
    }

    /// What the model said in one go is one message: providers want it so.
    pub(super) fn assistant(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.outputs.clear();
        let mut blocks = blocks.into_iter().peekable();
        if blocks.peek().is_none() {
            return;
        }
        match self.messages.last_mut() {
            Some(Message::Assistant(said)) => said.extend(blocks),
            _ => self.messages.push(Message::Assistant(blocks.collect())),
        }
    }

    pub(super) fn output(&mut self, output: Output) {
        self.messages.push(Message::ToolResult(codecell_llm::ToolResult {
            call_id: output.call.clone(),
            name: String::new(),
            text: output.text.clone(),
            images: Vec::new(),
            is_error: false,
        }));
        self.outputs.push(output);
    }

    /// What it comes to. `place` is the field that it was read from.
    pub(super) fn end(self, place: &Part<'_>) -> Result<Said, ApiError> {
        let mut named = HashSet::new();
        if let Some(output) = self.outputs.iter().find(|output| !named.insert(&output.call)) {
            let message = format!("call `{}` is answered twice in this request", output.call);
            return Err(ApiError::bad_request("invalid_value", message).at(&output.path));
        }
        if !self.outputs.is_empty() {
            return Ok(Said::Outputs(self.outputs));
        }
        if !matches!(self.messages.last(), Some(Message::User(_))) {
            return Err(place.invalid("must end with a user's message or with the outputs of tool calls"));
        }
        Ok(Said::New {
            instructions: (!self.instructions.is_empty()).then(|| self.instructions.join("\n\n")),
            messages: self.messages,
        })
    }
}

/// A call that the model made, as the application repeats it.
pub(super) fn call(id: &Part<'_>, function: &Part<'_>) -> Result<Block, ApiError> {
    Ok(Block::ToolCall(codecell_llm::ToolCall {
        id: id.text()?.to_owned(),
        name: function.need("name")?.text()?.to_owned(),
        arguments: function.need("arguments")?.text()?.to_owned(),
        signature: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_spells_json_is_json() {
        for (text, expected) in [
            (
                r#"{ "a": 12345678901234567890123 }"#,
                r#"{ "a": 12345678901234567890123 }"#,
            ),
            ("[1,2]", "[1,2]"),
            (" 7 ", "7"),
            ("null", "null"),
            (r#""quoted""#, r#""quoted""#),
            ("plain", r#""plain""#),
            ("", r#""""#),
            ("{broken", r#""{broken""#),
            ("1 2", r#""1 2""#),
        ] {
            let output = Output {
                call: "c".into(),
                text: text.into(),
                path: String::new(),
            };
            assert_eq!(output.value().as_str(), expected);
        }
        let deep = "[".repeat(200) + &"]".repeat(200);
        let output = Output {
            call: "c".into(),
            text: deep.clone(),
            path: String::new(),
        };
        assert_eq!(
            output.value().as_str(),
            format!("\"{deep}\""),
            "nested too deeply to be read"
        );
    }
}
