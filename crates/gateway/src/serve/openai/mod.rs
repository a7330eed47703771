//! The OpenAI-compatible API: chat completions, responses, and the list of models.
//!
//! A request begins a turn, or gives a turn that waits the outputs of its calls; the response tells the turn until its
//! end, or until it waits again. What decides how:
//!
//! - The trailing tool outputs of a request are answers; those that something follows are history.
//! - The session: with `previous_response_id` or outputs it follows from these; otherwise the request names it, or it
//!   is a new one. Every answer says which it was, those that are errors too.
//! - `previous_response_id` may be any response of a turn, and always means its end. When other things were said since,
//!   the conversation goes on in a new session, which gets a copy of what was said until then.
//! - Instructions are those of one request; `system` and `developer` messages are instructions wherever they stand.
//! - A limit of the turn ends it like one of the model: `length`, or `incomplete` for `max_output_tokens`. A refusal is
//!   `content_filter` in both APIs.
//! - Nested calls and reasoning are not told: see `/trajectory`.
mod body;
mod chat;
mod chat_reply;
mod chat_request;
mod content;
mod failure;
mod fields;
mod ids;
mod leg;
mod models;
mod part;
mod request;
mod responses;
mod responses_reply;
mod responses_request;
mod session;
mod stream;
mod tools;
mod turn;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

pub(super) use self::body::JsonBody;
use super::Gateway;

pub(super) fn routes() -> Router<Arc<Gateway>> {
    Router::new()
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*name}", get(models::get))
        .route("/v1/chat/completions", post(chat::create))
        .route("/v1/responses", post(responses::create))
}
