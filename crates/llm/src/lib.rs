//! Asks a model over the wire format of its provider: `OpenAI` Responses and Chat Completions, Anthropic Messages,
//! Google `generateContent`.
//!
//! It runs no tool, keeps no conversation and reads no configuration. The last thing that happens to a body before it
//! leaves is the caller's guard.
//!
//! ```
//! use codecell_llm::{Api, Delivery, Message, Request, StopReason, decode, encode};
//!
//! let request = Request {
//!     model: "small".into(),
//!     messages: vec![Message::user("Say hi")],
//!     ..Request::default()
//! };
//! let body = encode(Api::OpenAiCompletions, &request, Delivery::Whole);
//! assert_eq!(
//!     body.to_string(),
//!     r#"{"model":"small","messages":[{"role":"user","content":"Say hi"}],"stream":false}"#,
//! );
//! let answer = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
//! let reply = decode(Api::OpenAiCompletions, "small", answer)?;
//! assert_eq!((reply.text(), reply.stop), ("hi".to_owned(), StopReason::Stop));
//! # Ok::<(), codecell_llm::Error>(())
//! ```
//!
//! [`Client`] carries both over HTTP.

mod api;
mod client;
pub mod debug;
mod decode;
mod draft;
mod error;
mod message;
mod provider;
mod reply;
mod request;
mod retry;
mod secret;
mod sse;
mod stream;
mod wire;

pub use crate::{
    api::{Api, Delivery, encode},
    client::{Client, Guard},
    decode::{Decoder, decode},
    error::Error,
    message::{ArgumentsError, Block, Content, Image, Message, Signature, ToolCall, ToolResult},
    provider::{Provider, Timeouts},
    reply::{Event, Partial, Reply, StopReason, Usage},
    request::{Request, Tool, ToolChoice},
    retry::Retries,
    secret::Secret,
    sse::{Frame, FrameTooLarge, SseParser},
    stream::ReplyStream,
};
