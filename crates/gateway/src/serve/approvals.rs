//! Questions that wait for a person, and the person's answers.
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use codecell::tools::{DecideError, Decision};
use serde_json::{Value, json};

use super::Gateway;
use super::error::ApiError;
use super::openai::JsonBody;
use super::path::Named;

pub(super) fn routes() -> Router<Arc<Gateway>> {
    Router::new()
        .route("/approvals", get(list))
        .route("/approvals/{id}", post(decide))
}

async fn list(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    Json(json!({ "approvals": gateway.mcp.shared.approvals.list() }))
}

async fn decide(
    State(gateway): State<Arc<Gateway>>,
    Named(id): Named,
    JsonBody(body): JsonBody,
) -> Result<Json<Value>, ApiError> {
    let known = Decision::ALL.map(Decision::as_str).join("`, `");
    let decision = body.get("decision").cloned().unwrap_or_default();
    let decision: Decision = serde_json::from_value(decision).map_err(|_| {
        ApiError::bad_request("invalid_decision", format!("`decision` is one of `{known}`")).at("decision")
    })?;
    let approvals = &gateway.mcp.shared.approvals;
    // The broker takes an answer that was not offered for a no. Here it is a mistake that can be corrected.
    if let Some(waiting) = approvals.get(&id)
        && !waiting.allowed_decisions.contains(&decision)
    {
        let offered: Vec<&str> = waiting.allowed_decisions.iter().map(|one| one.as_str()).collect();
        let message = format!(
            "`{id}` can be answered with `{}`; nothing was decided",
            offered.join("`, `")
        );
        return Err(ApiError::bad_request("decision_not_offered", message).at("decision"));
    }
    approvals.decide(&id, decision).map_err(|error| {
        let (status, code) = match error {
            DecideError::Unknown { .. } => (StatusCode::NOT_FOUND, "unknown_approval"),
            _ => (StatusCode::CONFLICT, "approval_already_decided"),
        };
        ApiError::new(status, code, error.to_string())
    })?;
    Ok(Json(json!({ "id": id, "decision": decision })))
}
