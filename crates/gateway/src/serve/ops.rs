//! What an operator looks at: runs and health here, sessions, approvals and trajectories beside it.
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{delete, get};
use axum::{Json, Router};
use codecell::{CellInfo, CellState, Codecell};
use codecell_trajectory::rfc3339;
use serde_json::{Value, json};

use super::error::ApiError;
use super::path::Named;
use super::{Gateway, approvals, sessions, trajectory};
use crate::turns::{RunInfo, RunState};
use crate::wiring::{Channel, EngineState};

pub(super) fn routes() -> Router<Arc<Gateway>> {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/runs", get(runs))
        .route("/runs/{id}", delete(abort))
        .merge(sessions::routes())
        .merge(approvals::routes())
        .merge(trajectory::routes())
}

/// The process answers, so it lives.
async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// Whether new work is welcome. A server that is down does not change that: its tools say so when they are called.
async fn readyz(State(gateway): State<Arc<Gateway>>) -> (StatusCode, Json<Value>) {
    let shared = &gateway.mcp.shared;
    let engine = shared.engine_state();
    let status = if gateway.stopping.is_cancelled() {
        "stopping"
    } else if engine == EngineState::Failed {
        "failed"
    } else {
        "ready"
    };
    // Why a server failed can hold what only the operator should see, and anybody may ask here.
    let servers = shared.upstreams.snapshot();
    let servers = servers
        .servers
        .iter()
        .map(|server| json!({ "name": server.name, "state": server.state.label() }));
    let code = if status == "ready" {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = json!({
        "status": status,
        "engine": engine.label(),
        "servers": servers.collect::<Vec<_>>(),
    });
    (code, Json(body))
}

async fn runs(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    let engine = gateway.mcp.shared.loaded_engine();
    let turns = gateway.turns.list();
    let cells = engine.map_or_else(Vec::new, Codecell::cells);
    // The cells of a turn are its own affair.
    let cells = cells
        .iter()
        .filter(|cell| cell.channel.as_deref() == Some(Channel::Mcp.name()));
    let runs: Vec<Value> = turns.iter().map(turn).chain(cells.map(cell)).collect();
    Json(json!({
        "runs": runs,
        "suspendedCells": engine.map_or(0, |engine| engine.suspended_runs()),
        "liveVms": engine.map_or(0, |engine| engine.live_vms()),
    }))
}

fn turn(run: &RunInfo) -> Value {
    let (state, calls) = match &run.state {
        RunState::Running => ("running", Vec::new()),
        RunState::Waiting(calls) => {
            let calls = calls.iter();
            let calls = calls.map(|call| json!({ "id": call.id, "tool": call.name }));
            ("waiting_for_client", calls.collect())
        }
    };
    json!({
        "id": run.id,
        "kind": "turn",
        "agent": run.agent,
        "session": run.session,
        "model": run.model,
        "state": state,
        "startedAt": rfc3339(run.started_at),
        "rounds": run.rounds,
        "clientCalls": calls,
    })
}

/// A cell that somebody runs at `/mcp`. Its `runId` is not told: who knows that can go on with it.
fn cell(cell: &CellInfo) -> Value {
    json!({
        "id": cell.id,
        "kind": "cell",
        "agent": cell.agent,
        "session": cell.session,
        "state": match cell.state {
            CellState::Running => "running",
            CellState::Suspended => "suspended",
        },
        "startedAt": rfc3339(cell.started_at),
    })
}

async fn abort(State(gateway): State<Arc<Gateway>>, Named(id): Named) -> Result<Json<Value>, ApiError> {
    let engine = gateway.mcp.shared.loaded_engine();
    if gateway.turns.abort(&id).await || engine.is_some_and(|engine| engine.abort_cell(&id)) {
        return Ok(Json(json!({ "id": id, "aborted": true })));
    }
    Err(ApiError::new(
        StatusCode::NOT_FOUND,
        "unknown_run",
        format!("no run `{id}` is going on; `GET /runs` lists those that are"),
    ))
}
