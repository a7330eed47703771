//! `GET /v1/models`.
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::super::Gateway;
use super::super::error::ApiError;
use super::super::path::Named;

pub(super) async fn list(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    let names = gateway.turns.agents().names();
    let models: Vec<Value> = names.iter().map(|name| model(name)).collect();
    Json(json!({ "object": "list", "data": models }))
}

/// A model that a provider does not list is one all the same, if the provider lists none.
pub(super) async fn get(
    State(gateway): State<Arc<Gateway>>,
    Named(name): Named,
) -> Result<Json<Value>, ApiError> {
    if gateway.turns.agents().knows(&name) {
        return Ok(Json(model(&name)));
    }
    let message = format!("model `{name}` does not exist: see `/v1/models`");
    Err(ApiError::new(StatusCode::NOT_FOUND, "model_not_found", message).at("model"))
}

/// When a model began nobody knows.
fn model(name: &str) -> Value {
    let owner = name.split_once('/').map_or(name, |(owner, _)| owner);
    json!({ "id": name, "object": "model", "created": 0, "owned_by": owner })
}
