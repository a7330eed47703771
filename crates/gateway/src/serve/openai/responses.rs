//! `POST /v1/responses`.
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::super::Gateway;
use super::super::error::ApiError;
use super::body::JsonBody;
use super::part::Part;
use super::responses_reply::ResponsesReply;
use super::responses_request::{PREFIX, parse};
use super::{chat, ids, session, stream, turn};
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
    body: &Value,
    session: &mut Option<String>,
) -> Result<Response, ApiError> {
    let body = Part::body(body)?;
    *session = session::named(headers, &body)?;
    let request = parse(&body)?;
    let origin = match request.previous {
        Some(turn) => turn::Origin::Turn(turn),
        None => turn::Origin::Request {
            session: session.clone(),
            history: History::Introduced,
        },
    };
    let leg = turn::of(gateway, request.wanted, "input", origin, session).await?;
    let id = ids::response(PREFIX, leg.turn());
    let reply = ResponsesReply::new(id, chat::now(), request.repeated);
    if request.stream {
        return stream::told(leg.pieces(), reply).await;
    }
    let reply = stream::heard(leg.pieces(), reply).await?;
    Ok(Json(reply.whole()).into_response())
}
