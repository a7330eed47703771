//! Transcripts: which there are, what is in them, and how to be rid of them.
use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use codecell_sessions::{Session, SessionError, StoredEntry};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Gateway;
use super::error::ApiError;
use super::path::Named;
use crate::turns::{BeginProblem, Hold};

/// Entries of one answer unless the request says otherwise, and most of them.
const DEFAULT_PAGE: usize = 1_000;
const MAX_PAGE: usize = 10_000;

pub(super) fn routes() -> Router<Arc<Gateway>> {
    Router::new()
        .route("/sessions", get(list))
        .route("/sessions/{key}", get(show).delete(delete))
        .route("/sessions/{key}/reset", post(reset))
}

async fn list(State(gateway): State<Arc<Gateway>>) -> Result<Json<Value>, ApiError> {
    let sessions = gateway.turns.sessions().list().await.map_err(storage)?;
    let sessions: Vec<Value> = sessions.iter().map(head).collect();
    Ok(Json(json!({ "sessions": sessions })))
}

/// Which entries of a session are wanted.
#[derive(Deserialize)]
struct Page {
    limit: Option<usize>,
    /// Only those before this one.
    before: Option<u64>,
}

/// The end of a session, or what lies before an entry of it.
async fn show(
    State(gateway): State<Arc<Gateway>>,
    Named(key): Named,
    page: Result<Query<Page>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    let Query(page) =
        page.map_err(|rejected| ApiError::bad_request("invalid_query", rejected.body_text()))?;
    let session = find(&gateway, &key).await?;
    let limit = page.limit.unwrap_or(DEFAULT_PAGE).min(MAX_PAGE);
    let sessions = gateway.turns.sessions();
    let entries = sessions.history(&session.session_id, page.before, limit).await;
    let entries: Vec<Value> = entries.map_err(storage)?.iter().map(entry).collect();
    Ok(Json(json!({ "session": head(&session), "entries": entries })))
}

/// Begins the conversation anew; what was said is kept under the old id.
async fn reset(State(gateway): State<Arc<Gateway>>, Named(key): Named) -> Result<Json<Value>, ApiError> {
    let session = find(&gateway, &key).await?;
    if !session.active {
        return Err(ApiError::new(
            StatusCode::CONFLICT,
            "session_not_active",
            format!("session `{key}` was reset already"),
        ));
    }
    let key = session.session_key;
    let _hold = hold(&gateway, &key).await?;
    let id = gateway.turns.sessions().reset(&key, SystemTime::now()).await;
    Ok(Json(json!({ "key": key, "id": id.map_err(storage)? })))
}

/// Deletes one session by its id, or a conversation by its key, with all that was said before it was reset.
async fn delete(State(gateway): State<Arc<Gateway>>, Named(key): Named) -> Result<Json<Value>, ApiError> {
    let sessions = gateway.turns.sessions();
    let found = find(&gateway, &key).await?;
    // A whole conversation, or the part of it that goes on. One whose parts are all over can begin again meanwhile.
    let _hold = if found.active || found.session_key == key {
        Some(hold(&gateway, &found.session_key).await?)
    } else {
        None
    };
    let all = sessions.list().await.map_err(storage)?;
    let doomed = all
        .into_iter()
        .filter(|session| session.session_key == key || session.session_id == key);
    let mut deleted = Vec::new();
    for session in doomed {
        match sessions.delete(&session.session_id).await {
            Ok(()) => deleted.push(session.session_id),
            // Somebody else was faster.
            Err(SessionError::Unknown(_)) => {}
            Err(error) => return Err(storage(error)),
        }
    }
    Ok(Json(json!({ "deleted": deleted })))
}

/// The session that a key leads to, or the one of this id.
pub(super) async fn find(gateway: &Gateway, key: &str) -> Result<Session, ApiError> {
    let sessions = gateway.turns.sessions().list().await.map_err(storage)?;
    let by_key = |session: &&Session| session.session_key == key;
    let found = sessions
        .iter()
        .find(|session| session.active && by_key(session))
        .or_else(|| sessions.iter().find(|session| session.session_id == key))
        .or_else(|| sessions.iter().find(by_key));
    found.cloned().ok_or_else(|| {
        ApiError::new(
            StatusCode::NOT_FOUND,
            "unknown_session",
            format!("there is no session `{key}`; `GET /sessions` lists them"),
        )
    })
}

async fn hold(gateway: &Gateway, key: &str) -> Result<Hold, ApiError> {
    gateway.turns.hold(key).await.map_err(|problem| {
        let (status, code) = match problem {
            BeginProblem::Closed => (StatusCode::SERVICE_UNAVAILABLE, "shutting_down"),
            _ => (StatusCode::CONFLICT, "session_busy"),
        };
        ApiError::new(status, code, problem.to_string())
    })
}

/// The transcripts cannot be read or written, which is nothing the caller could change.
pub(super) fn storage(error: SessionError) -> ApiError {
    tracing::error!(%error, "the transcripts cannot be used");
    let status = match error {
        SessionError::Unknown(_) => StatusCode::NOT_FOUND,
        SessionError::Busy { .. } => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let code = match error {
        SessionError::Unknown(_) => "unknown_session",
        _ => "session_storage",
    };
    ApiError::new(status, code, error.to_string())
}

fn head(session: &Session) -> Value {
    json!({
        "key": session.session_key,
        "id": session.session_id,
        "name": session.name,
        "startedAt": session.started_at,
        "updatedAt": session.updated_at,
        "entries": session.entries,
        "active": session.active,
    })
}

/// An entry with its place before what was said.
fn entry(stored: &StoredEntry) -> Value {
    let mut fields = Map::new();
    fields.insert("seq".into(), stored.seq.into());
    fields.insert("ts".into(), stored.ts.as_str().into());
    if let Some(run) = &stored.run_id {
        fields.insert("runId".into(), run.as_str().into());
    }
    if let Ok(Value::Object(said)) = serde_json::to_value(&stored.entry) {
        fields.extend(said);
    }
    Value::Object(fields)
}
