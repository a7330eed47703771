//! A model that says what a script tells it, over the wire formats of the real ones.
//!
//! It stands where a provider stands: it hears whole requests, remembers them, and answers in pieces, or not at all.
//! Nothing here is shared with the product.

mod chat;
mod delivery;
mod google;
mod messages;
mod reply;
mod responses;
mod seen;
mod server;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub(crate) use reply::{Call, Reply, Turn};
pub(crate) use seen::{Offered, Seen};
pub(crate) use server::Model;

/// The wire formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Responses,
    Chat,
    Messages,
    Google,
}

impl Api {
    /// All of them.
    pub(crate) const ALL: [Api; 4] = [Api::Responses, Api::Chat, Api::Messages, Api::Google];

    /// The name that the product's configuration has for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Api::Responses => "openai-responses",
            Api::Chat => "openai-completions",
            Api::Messages => "anthropic-messages",
            Api::Google => "google-generative-ai",
        }
    }

    /// What follows the address in a base URL.
    pub(crate) fn base_path(self) -> &'static str {
        match self {
            Api::Responses | Api::Chat => "/v1",
            Api::Messages => "",
            Api::Google => "/v1beta",
        }
    }

    /// The header that carries the key.
    fn key_header(self) -> &'static str {
        match self {
            Api::Responses | Api::Chat => "authorization",
            Api::Messages => "x-api-key",
            Api::Google => "x-goog-api-key",
        }
    }

    /// Whether a model of this format is asked under this path.
    fn serves(self, path: &str) -> bool {
        match self {
            Api::Responses => path.ends_with("/responses"),
            Api::Chat => path.ends_with("/chat/completions"),
            Api::Messages => path.ends_with("/v1/messages"),
            Api::Google => path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent"),
        }
    }

    /// Reads a request's body into the neutral view.
    fn read(self, body: &Value, seen: &mut Seen) {
        match self {
            Api::Responses => responses::read(body, seen),
            Api::Chat => chat::read(body, seen),
            Api::Messages => messages::read(body, seen),
            Api::Google => google::read(body, seen),
        }
    }

    /// A turn in pieces. `number` tells this answer from all others.
    fn stream(self, turn: &Turn, seen: &Seen, number: usize) -> Vec<Frame> {
        match self {
            Api::Responses => responses::stream(turn, seen, number),
            Api::Chat => chat::stream(turn, seen, number),
            Api::Messages => messages::stream(turn, seen, number),
            Api::Google => google::stream(turn, seen, number),
        }
    }

    /// A turn at once.
    fn whole(self, turn: &Turn, seen: &Seen, number: usize) -> Value {
        match self {
            Api::Responses => responses::whole(turn, seen, number),
            Api::Chat => chat::whole(turn, seen, number),
            Api::Messages => messages::whole(turn, seen, number),
            Api::Google => google::whole(turn, seen, number),
        }
    }

    /// A refusal in the words of this format.
    fn refusal(self, status: u16, message: &str) -> Value {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            429 => "rate_limit_error",
            _ => "api_error",
        };
        match self {
            Api::Responses | Api::Chat => {
                serde_json::json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
            }
            Api::Messages => {
                serde_json::json!({ "type": "error", "error": { "type": kind, "message": message } })
            }
            Api::Google => {
                serde_json::json!({ "error": { "code": status, "message": message, "status": kind.to_uppercase() } })
            }
        }
    }
}

/// One server-sent event.
struct Frame {
    event: Option<String>,
    data: String,
}

impl Frame {
    /// An event without a name.
    fn data(data: &Value) -> Frame {
        Frame {
            event: None,
            data: data.to_string(),
        }
    }

    /// An event that is named as its data's `type`.
    fn typed(data: &Value) -> Frame {
        Frame {
            event: data["type"].as_str().map(str::to_owned),
            data: data.to_string(),
        }
    }
}
