//! `POST /v1/chat/completions`.
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};

use super::super::Gateway;
use super::super::error::ApiError;
use super::body::JsonBody;
use super::chat_reply::ChatReply;
use super::chat_request::parse;
use super::part::Part;
use super::{ids, session, stream, turn};
use crate::turns::History;

pub(super) async fn create(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Response {
    let mut session = None;
    let answer = answer(&gateway, &headers, &body, &mut session).await;
    session::told(answer.into_response(), session.as_deref())
}

async fn answer(
    gateway: &Gateway,
    headers: &HeaderMap,
    body: &serde_json::Value,
    session: &mut Option<String>,
) -> Result<Response, ApiError> {
    let body = Part::body(body)?;
    *session = session::named(headers, &body)?;
    let request = parse(&body)?;
    let model = request.wanted.model.clone();
    let origin = turn::Origin::Request {
        session: session.clone(),
        history: History::Told,
    };
    let leg = turn::of(gateway, request.wanted, "messages", origin, session).await?;
    let id = ids::response("chatcmpl-", leg.turn());
    let reply = ChatReply::new(id, now(), model, request.include_usage);
    if request.stream {
        return stream::told(leg.pieces(), reply).await;
    }
    let reply = stream::heard(leg.pieces(), reply).await?;
    Ok(Json(reply.whole()).into_response())
}

/// In seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}
