//! Transcripts as trajectories.
use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use codecell_sessions::export;
use futures_util::stream;

use super::Gateway;
use super::error::ApiError;
use super::path::Named;
use super::sessions::{find, storage};
use crate::wiring::redactor;

pub(super) fn routes() -> Router<Arc<Gateway>> {
    Router::new().route("/trajectory/{session}", get(show))
}

/// The events of a session, one a line, secrets taken out.
async fn show(State(gateway): State<Arc<Gateway>>, Named(key): Named) -> Result<Response, ApiError> {
    let session = find(&gateway, &key).await?;
    let sessions = gateway.turns.sessions();
    let entries = sessions.history(&session.session_id, None, usize::MAX).await;
    let events = export(&entries.map_err(storage)?, &[], &redactor());
    // Line by line: the whole text would take as much again.
    let lines = events.into_iter().map(|event| {
        let mut line = serde_json::to_string(&event).unwrap_or_default();
        line.push('\n');
        Ok::<_, Infallible>(line)
    });
    let body = Body::from_stream(stream::iter(lines));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}
