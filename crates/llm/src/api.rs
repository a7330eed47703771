use std::fmt;

use serde_json::Value;

use crate::{
    Request,
    wire::{chat, google, messages, responses},
};

/// The protocol a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// `OpenAI` Responses.
    OpenAiResponses,
    /// `OpenAI` Chat Completions and what is compatible with it.
    OpenAiCompletions,
    /// Anthropic Messages.
    AnthropicMessages,
    /// Google `generateContent`.
    GoogleGenerateContent,
}

impl Api {
    /// The protocol of this name in configuration files.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "openai-responses" => Some(Self::OpenAiResponses),
            "openai-completions" => Some(Self::OpenAiCompletions),
            "anthropic-messages" => Some(Self::AnthropicMessages),
            "google-generative-ai" => Some(Self::GoogleGenerateContent),
            _ => None,
        }
    }

    /// Its name in configuration files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiCompletions => "openai-completions",
            Self::AnthropicMessages => "anthropic-messages",
            Self::GoogleGenerateContent => "google-generative-ai",
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether an answer comes piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Piece by piece.
    Streamed,
    /// At once.
    Whole,
}

/// The body of a request, before any guard. [`Request::extra`] is already in it.
#[must_use]
pub fn encode(api: Api, request: &Request, delivery: Delivery) -> Value {
    let mut body = match api {
        Api::OpenAiResponses => responses::encode(request, delivery),
        Api::OpenAiCompletions => chat::encode(request, delivery),
        Api::AnthropicMessages => messages::encode(request, delivery),
        Api::GoogleGenerateContent => google::encode(request),
    };
    body.extend(request.extra.clone());
    Value::Object(body)
}
