//! What `doctor` finds out.
use std::path::PathBuf;
use std::sync::Arc;

use codecell::{CellResult, RunContext, Unobserved};
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::advice::advice;
use super::turns::TurnsReport;
use crate::config::{Config, Problem, Severity};
use crate::tokens;
use crate::upstream::{Era, ServerSnapshot, State};
use crate::wiring::{App, RemovedTool};

/// The findings; `--json` prints them as they are.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// No configuration error, no server that failed, and an engine that runs.
    pub(super) ok: bool,
    pub(super) files: Vec<PathBuf>,
    pub(super) problems: Vec<ProblemReport>,
    /// What works as written and is still worth a second look.
    pub(super) advice: Vec<AdviceReport>,
    /// What the policy takes away.
    pub(super) removed: Vec<RemovedReport>,
    pub(super) engine: Engine,
    pub(super) servers: Vec<ServerReport>,
    /// What agent turns need, if models are configured.
    #[serde(flatten)]
    pub(super) turns: Option<TurnsReport>,
    pub(super) tokens: TokenReport,
}

#[derive(Debug, Serialize)]
pub(super) struct AdviceReport {
    pub(super) path: String,
    pub(super) message: String,
}

/// The tools that one list of the policy takes away.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RemovedReport {
    pub(super) config_key: String,
    pub(super) tools: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ProblemReport {
    pub(super) file: PathBuf,
    pub(super) path: String,
    pub(super) severity: String,
    pub(super) message: String,
}

/// Whether a cell can run at all.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub(super) enum Engine {
    Ready,
    Off,
    Failed { error: String },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServerReport {
    pub(super) name: String,
    pub(super) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protocol: Option<String>,
    /// The tools are those of an earlier connection.
    pub(super) stale: bool,
    pub(super) tools: usize,
    pub(super) direct_only: usize,
    /// What its tools cost in every request of a host without code mode.
    pub(super) tokens: usize,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) notes: Vec<String>,
    /// The end of what it wrote to standard error, if it did not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stderr: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    pub(super) name: String,
    pub(super) reason: String,
}

/// Tokens of the tool list in every model request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenReport {
    pub(super) tokenizer: &'static str,
    /// All tools, listed one by one.
    pub(super) direct: usize,
    /// What Codecell lists instead: exec, wait and the direct-only tools.
    pub(super) codecell: usize,
}

/// What is left to say when nothing could be started.
#[derive(Debug, Serialize)]
pub(super) struct NoStart {
    ok: bool,
    files: Vec<PathBuf>,
    problems: Vec<ProblemReport>,
    error: String,
}

impl NoStart {
    pub(super) fn new(files: Vec<PathBuf>, problems: Vec<Problem>, error: &anyhow::Error) -> Self {
        Self {
            ok: false,
            files,
            problems: problems.into_iter().map(ProblemReport::from).collect(),
            error: format!("{error:#}"),
        }
    }
}

impl From<Problem> for ProblemReport {
    fn from(problem: Problem) -> Self {
        Self {
            file: problem.file,
            path: problem.path,
            severity: problem.severity.to_string(),
            message: problem.message,
        }
    }
}

impl Report {
    pub(super) async fn new(app: &App, config: &Config, files: Vec<PathBuf>, problems: Vec<Problem>) -> Self {
        let view = app.view();
        let servers: Vec<ServerReport> = view.snapshot.servers.iter().map(ServerReport::new).collect();
        let engine = engine(app).await;
        let tokens = TokenReport {
            tokenizer: "o200k_base",
            direct: servers
                .iter()
                .map(|server| server.tokens)
                .chain(app.own_listings().iter().map(tokens::count_listing))
                .sum(),
            codecell: view
                .visible
                .iter()
                .map(|tool| tokens::count_listing(&tool.listing))
                .sum(),
        };
        let sound = problems.iter().all(|problem| problem.severity < Severity::Error);
        let works = servers
            .iter()
            .all(|server| matches!(server.state, "ready" | "disabled"));
        let runs = !matches!(engine, Engine::Failed { .. });
        let problems = problems.into_iter().map(ProblemReport::from).collect();
        Self {
            ok: sound && works && runs,
            files,
            problems,
            advice: advice(app)
                .into_iter()
                .map(|(path, message)| AdviceReport { path, message })
                .collect(),
            removed: removed(&view.removed),
            engine,
            servers,
            turns: TurnsReport::new(&app.shared, config),
            tokens,
        }
    }
}

fn removed(tools: &[RemovedTool]) -> Vec<RemovedReport> {
    let mut by_key: Vec<RemovedReport> = Vec::new();
    for tool in tools {
        match by_key
            .iter_mut()
            .find(|report| report.config_key == tool.config_key)
        {
            Some(report) => report.tools.push(tool.id.clone()),
            None => by_key.push(RemovedReport {
                config_key: tool.config_key.clone(),
                tools: vec![tool.id.clone()],
            }),
        }
    }
    by_key
}

/// Runs the smallest cell there is.
async fn engine(app: &App) -> Engine {
    if !app.has_code_mode() {
        return Engine::Off;
    }
    let run = RunContext {
        caller: app.caller(),
        surface: Arc::clone(&app.view().surface),
        settings: app.settings,
        cancel: CancellationToken::new(),
        observer: Arc::new(Unobserved),
    };
    match app.shared.exec(&json!({ "code": "return 1 + 1" }), run).await {
        CellResult::Completed { .. } => Engine::Ready,
        CellResult::Failed { error, .. } => Engine::Failed { error },
        CellResult::Waiting { .. } => Engine::Failed {
            error: "`return 1 + 1` waits".into(),
        },
    }
}

impl ServerReport {
    fn new(server: &ServerSnapshot) -> Self {
        let reason = match &server.state {
            State::Failed { reason } | State::NeedsAuth { reason } | State::Restarting { reason } => {
                Some(reason.clone())
            }
            _ => None,
        };
        let works = matches!(server.state, State::Ready | State::Disabled);
        Self {
            name: server.name.clone(),
            state: server.state.label(),
            reason,
            protocol: server.protocol_version.clone().or_else(|| server.era.map(era)),
            stale: server.stale,
            tools: server.tools.len(),
            direct_only: server.tools.iter().filter(|tool| tool.direct_only).count(),
            tokens: server
                .tools
                .iter()
                .map(|tool| tokens::count_listing(&tool.raw))
                .sum(),
            left_out: server
                .quarantined
                .iter()
                .map(|tool| LeftOut {
                    name: tool.name.clone(),
                    reason: tool.reason.clone(),
                })
                .collect(),
            notes: server.notes.to_vec(),
            stderr: Some(server.stderr_tail.clone()).filter(|tail| !works && !tail.is_empty()),
        }
    }
}

fn era(era: Era) -> String {
    match era {
        Era::Legacy => "up to 2025-11-25".into(),
        Era::Modern => "2026-07-28".into(),
    }
}
