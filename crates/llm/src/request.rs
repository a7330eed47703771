use serde_json::{Map, Value};

use crate::Message;

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The model as the provider calls it.
    pub model: String,
    /// Instructions that stand above the conversation.
    pub system: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// How free it is in that. Not sent when there are no tools.
    pub tool_choice: ToolChoice,
    /// Most tokens of the answer. Without one the provider decides, or 8192 where it wants a number.
    pub max_output_tokens: Option<u64>,
    /// How much chance there is in the answer.
    pub temperature: Option<f64>,
    /// A stable key of the conversation, for the caches of providers that take one.
    pub session: Option<String>,
    /// Fields put into the body over what is there, before the guard sees it: what only one provider knows.
    pub extra: Map<String, Value>,
}

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// What the model calls it.
    pub name: String,
    /// What the model reads of it.
    pub description: String,
    /// JSON Schema of the arguments, sent as it is.
    pub parameters: Value,
}

/// How free the model is to call tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// It decides.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must call one or more.
    Required,
    /// It must call this one.
    Tool(String),
}
