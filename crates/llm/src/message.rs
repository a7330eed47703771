//! A conversation, spelled for no provider in particular.

use serde_json::{Map, Value};

use crate::Api;

/// One entry of a conversation, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// What the user says or shows.
    User(Vec<Content>),
    /// What the model answered before.
    Assistant(Vec<Block>),
    /// What came of one tool call. Results that follow each other share one message where the provider wants that.
    ToolResult(ToolResult),
}

impl Message {
    /// A user's message of text alone.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Content::Text(text.into())])
    }
}

/// A part of what the user says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Words.
    Text(String),
    /// A picture.
    Image(Image),
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its type, such as `image/png`.
    pub mime_type: String,
    /// Its bytes in base64.
    pub data: String,
}

impl Image {
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.data)
    }
}

/// A part of what the model says, in the order in which it said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Words, or the words of a refusal.
    Text(String),
    /// Reasoning that the provider shows.
    Thinking {
        /// What it shows of it, maybe nothing.
        text: String,
        /// What must come back with it. Reasoning without one is not sent again.
        signature: Option<Signature>,
    },
    /// Reasoning that the provider only hands out sealed.
    RedactedThinking(Signature),
    /// A call of a tool.
    ToolCall(ToolCall),
}

/// An opaque value that the provider wants back unchanged.
///
/// It goes back to the same model of the same API only; any other would refuse it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Where it came from.
    pub api: Api,
    /// The model that was asked, as the request named it.
    pub model: String,
    /// The value.
    pub value: String,
}

impl Signature {
    /// The value, if a request to `model` over `api` may carry it.
    pub(crate) fn value_for(&self, api: Api, model: &str) -> Option<&str> {
        (self.api == api && self.model == model).then_some(self.value.as_str())
    }
}

/// A model's wish to call a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// What the result refers to: unique within a reply, made up here where the provider gives none.
    pub id: String,
    /// The name as the model wrote it, which need not be the name of a tool.
    pub name: String,
    /// The arguments as the model wrote them: JSON if all went well.
    pub arguments: String,
    /// What must come back with the call.
    pub signature: Option<Signature>,
}

/// The arguments of a call are not a JSON object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the arguments of `{name}` are not a JSON object ({detail}): call it again with one")]
pub struct ArgumentsError {
    /// The tool.
    pub name: String,
    /// What is wrong with them.
    pub detail: String,
}

impl ToolCall {
    /// The arguments as an object; no text at all is an empty one.
    ///
    /// # Errors
    ///
    /// Fails when the text is anything but one JSON object. That is the model's mistake: its message makes a good
    /// tool result.
    pub fn parse_arguments(&self) -> Result<Map<String, Value>, ArgumentsError> {
        serde_json::from_str(self.arguments_text()).map_err(|error| ArgumentsError {
            name: self.name.clone(),
            detail: error.to_string(),
        })
    }

    /// The text for a request: some models write nothing for no arguments, and providers refuse that coming back.
    pub(crate) fn arguments_text(&self) -> &str {
        if self.arguments.trim().is_empty() {
            "{}"
        } else {
            &self.arguments
        }
    }

    /// The arguments for a request that only takes an object. A text that is none is shown to the model as it was.
    pub(crate) fn arguments_object(&self) -> Map<String, Value> {
        self.parse_arguments()
            .unwrap_or_else(|_| Map::from_iter([("invalidJson".to_owned(), self.arguments.clone().into())]))
    }
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The [`ToolCall::id`] it answers.
    pub call_id: String,
    /// The tool that was called.
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// What it sees. Where a provider's results are words only, they follow all results as the user's.
    pub images: Vec<Image>,
    /// Whether the call failed. Where a provider has no place for it, the text must say it.
    pub is_error: bool,
}
