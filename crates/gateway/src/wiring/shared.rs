//! What all agents of a process share: the engine, the servers, the tools of this process, the people who approve.
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use codecell::tools::{Approvals, Toolbox};
use codecell::{Caller, CellResult, Codecell, EngineOptions, ErrorCode, RunContext, Telemetry, ToolExecutor};
use codecell_plugins::PluginHost;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::calls::{CallCounts, Counting};
use super::executor::UpstreamTools;
use super::guards;
use super::record::{Record, append_events};
use crate::approvals::Desk;
use crate::config::{Config, DirectOnly, ServerConfig, ToolSettings};
use crate::upstream::{UpstreamOptions, Upstreams, WaitFor};

/// How long the first cell of a long-lived door waits for servers whose tools nobody has seen yet.
const UNKNOWN_SERVERS_WAIT: Duration = Duration::from_secs(5);

/// Longest wait of a one-shot command for its servers: each has a limit of its own, this one is for all the rest.
const ALL_SERVERS_WAIT: Duration = Duration::from_secs(300);

/// What all agents of a process share.
pub(crate) struct Shared {
    /// Loaded at first use: most commands run no cell.
    engine: OnceCell<Result<Codecell, String>>,
    pub(crate) upstreams: Upstreams,
    /// Questions that wait for a person.
    pub(crate) approvals: Approvals,
    /// What the calls of cells came to.
    pub(crate) calls: Arc<CallCounts>,
    pub(super) toolbox: Arc<Toolbox>,
    pub(super) plugins: Arc<PluginHost>,
    pub(super) plugin_config: Value,
    pub(super) tools: ToolSettings,
    pub(super) may_ask: bool,
    pub(super) has_direct_only: bool,
    trajectory: Option<PathBuf>,
}

/// How far loading the engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EngineState {
    /// Nothing has needed it yet, or it is being loaded.
    Loading,
    Ready,
    /// It never will be.
    Failed,
}

impl EngineState {
    /// One lower-case word.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Ready => "ready",
            Self::Failed => "failed",
        }
    }
}

/// What is linked into a process, and where it writes.
pub(crate) struct Setting {
    pub(crate) plugins: Arc<PluginHost>,
    pub(crate) options: UpstreamOptions,
    /// Where the trajectory is written, if anywhere.
    pub(crate) trajectory: Option<PathBuf>,
}

impl Shared {
    /// Starts to connect to every server and returns at once.
    ///
    /// # Errors
    ///
    /// Fails when the tools of this process cannot be had as they are configured.
    pub(crate) fn start(config: &Config, setting: Setting) -> anyhow::Result<Arc<Self>> {
        let Setting {
            plugins,
            options,
            trajectory,
        } = setting;
        let has_direct_only = config.servers.iter().any(has_direct_only);
        let plugin_config = config.plugins.iter();
        let plugin_config = plugin_config
            .map(|(id, entry)| (id.clone(), entry.config.clone()))
            .collect();
        let upstreams = Upstreams::start(config.servers.clone(), options);
        let servers: Arc<dyn ToolExecutor> = Arc::new(UpstreamTools {
            upstreams: upstreams.clone(),
        });
        let toolbox = Arc::new(guards::toolbox(&config.tools, &plugins, servers)?);
        Ok(Arc::new(Self {
            engine: OnceCell::new(),
            approvals: Approvals::new(),
            calls: Arc::default(),
            toolbox,
            plugin_config,
            may_ask: !config.tools.ask.is_empty() || !plugins.plugins().is_empty(),
            plugins,
            tools: config.tools.clone(),
            has_direct_only,
            trajectory,
            upstreams,
        }))
    }

    /// Opens the socket on which people answer, if there can be questions. Without it they are answered with no.
    pub(crate) fn open_desk(&self) -> Option<Desk> {
        if !self.may_ask {
            return None;
        }
        Desk::open(&self.approvals)
            .inspect_err(|error| tracing::warn!(%error, "approvals cannot be answered from another terminal"))
            .ok()
    }

    /// Begins the trajectory of a session, if one is wanted.
    ///
    /// # Errors
    ///
    /// Fails when its file cannot be written: somebody who asked for a record counts on it.
    pub(crate) fn record(&self, caller: &Caller) -> anyhow::Result<Option<Arc<Record>>> {
        let Some(file) = &self.trajectory else {
            return Ok(None);
        };
        Record::open(file, &caller.session, &self.approvals)
            .map(Some)
            .with_context(|| format!("cannot write the trajectory to `{}`", file.display()))
    }

    /// Where the trajectory is written, if one is wanted.
    ///
    /// # Errors
    ///
    /// Fails when its file cannot be written: somebody who asked for a record counts on it.
    pub(crate) fn trajectory(&self) -> anyhow::Result<Option<&Path>> {
        let Some(file) = &self.trajectory else {
            return Ok(None);
        };
        append_events(file, &[])
            .with_context(|| format!("cannot write the trajectory to `{}`", file.display()))?;
        Ok(Some(file))
    }

    /// Waits until every server whose tools were never seen is ready or has failed, but not for long.
    pub(crate) async fn await_unknown_servers(&self) {
        self.upstreams
            .settled(WaitFor::Uncached, UNKNOWN_SERVERS_WAIT)
            .await;
    }

    /// Waits until every server is ready or has failed.
    pub(crate) async fn await_all_servers(&self) {
        self.upstreams.settled(WaitFor::All, ALL_SERVERS_WAIT).await;
    }

    /// What carries calls to the servers and nothing else.
    pub(crate) fn servers(&self) -> UpstreamTools {
        UpstreamTools {
            upstreams: self.upstreams.clone(),
        }
    }

    /// Runs a cell.
    pub(crate) async fn exec(&self, arguments: &Value, run: RunContext) -> CellResult {
        // The calls of a cell are told to this observer as long as it lives.
        let observer = Arc::new(Counting {
            counts: Arc::clone(&self.calls),
            told: run.observer,
        });
        let run = RunContext { observer, ..run };
        match self.engine().await {
            // On the heap, where its callers need not carry it about.
            Ok(codecell) => Box::pin(codecell.exec(arguments, run)).await,
            Err(error) => no_engine(error),
        }
    }

    /// Continues a suspended cell.
    pub(crate) async fn wait(&self, arguments: &Value, run: RunContext) -> CellResult {
        match self.engine().await {
            Ok(codecell) => Box::pin(codecell.wait(arguments, run)).await,
            Err(error) => no_engine(error),
        }
    }

    /// The engine, loaded once. Loading compiles the guest when no cache holds it, so it blocks.
    pub(crate) async fn engine(&self) -> Result<&Codecell, &str> {
        let load = || async {
            // The compiled guest lies beside the cached catalogs.
            let options = EngineOptions {
                module_cache: UpstreamOptions::default().cache,
                ..EngineOptions::default()
            };
            let loaded = tokio::task::spawn_blocking(move || Codecell::new(options)).await;
            match loaded {
                Ok(loaded) => loaded.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        };
        self.engine
            .get_or_init(load)
            .await
            .as_ref()
            .map_err(String::as_str)
    }

    /// The engine, if anything has needed it yet.
    pub(crate) fn loaded_engine(&self) -> Option<&Codecell> {
        self.engine.get().and_then(|loaded| loaded.as_ref().ok())
    }

    /// How far loading the engine is.
    pub(crate) fn engine_state(&self) -> EngineState {
        match self.engine.get() {
            None => EngineState::Loading,
            Some(Ok(_)) => EngineState::Ready,
            Some(Err(_)) => EngineState::Failed,
        }
    }

    /// Ends every cell of one caller.
    pub(crate) fn end_session(&self, session: &str) {
        if let Some(codecell) = self.loaded_engine() {
            codecell.abort_session(session);
        }
    }

    /// Ends every cell and every server. No child process is left when this returns.
    pub(crate) async fn shutdown(&self) {
        if let Some(codecell) = self.loaded_engine() {
            codecell.shutdown();
        }
        self.upstreams.shutdown().await;
    }
}

/// Nothing falls back to showing tools directly: without the engine every cell fails.
fn no_engine(error: &str) -> CellResult {
    failed(
        ErrorCode::RuntimeUnavailable,
        format!("the guest engine cannot be loaded: {error}"),
    )
}

/// The run that arguments of `wait` name, as `wait` itself reads them.
pub(crate) fn named_run(arguments: &Value) -> Option<&str> {
    let texts = ["runId", "run_id"]
        .into_iter()
        .filter_map(|key| arguments.get(key)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty())
}

/// The result of a cell that never ran.
pub(crate) fn failed(code: ErrorCode, error: String) -> CellResult {
    CellResult::Failed {
        error,
        code,
        output: Vec::new(),
        telemetry: Telemetry::default(),
        replay_safe: false,
    }
}

fn has_direct_only(server: &ServerConfig) -> bool {
    match &server.direct_only {
        DirectOnly::All => true,
        DirectOnly::Matching(globs) => !globs.patterns().is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::named_run;

    #[test]
    fn a_run_is_named_in_every_way_that_wait_understands() {
        for (arguments, expected) in [
            (json!({ "runId": "a" }), Some("a")),
            (json!({ "run_id": "a" }), Some("a")),
            (json!({ "runId": " a\n", "run_id": "b" }), Some("a")),
            (json!({ "runId": " ", "run_id": "b" }), Some("b")),
            (json!({ "runId": 7 }), None),
            (json!({}), None),
            (json!("a"), None),
        ] {
            assert_eq!(named_run(&arguments), expected, "{arguments}");
        }
    }
}
