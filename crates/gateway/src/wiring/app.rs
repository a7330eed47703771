use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use codecell::{
    CellResult, Codecell, EngineOptions, ErrorCode, Exposure, Languages, Owner, Replay, RunContext, Scope,
    ServerInfo, Settings, Surface, Telemetry, ToolExecutor, ToolSpec,
};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::direct::{DirectNames, DirectTool};
use super::executor::UpstreamTools;
use crate::config::{CodeModeSettings, Config, DirectOnly, ServerConfig, Switch};
use crate::upstream::{
    CallOptions, Progress, ServerSnapshot, Snapshot, State, ToolDump, UpstreamOptions, Upstreams, WaitFor,
};

/// How long the first cell of a long-lived door waits for servers whose tools nobody has seen yet.
const UNKNOWN_SERVERS_WAIT: Duration = Duration::from_secs(5);

/// Longest wait of a one-shot command for its servers: each has a limit of its own, this one is for all the rest.
const ALL_SERVERS_WAIT: Duration = Duration::from_secs(300);

/// Everything that runs: the engine, the servers, and what models see of them.
pub(crate) struct App {
    /// Loaded at first use: most commands run no cell.
    engine: OnceCell<Result<Codecell, String>>,
    pub(crate) upstreams: Upstreams,
    pub(crate) settings: Settings,
    code_mode: Switch,
    list_can_change: bool,
    names: Mutex<DirectNames>,
    /// The view of the last generation that was asked for.
    view: Mutex<Option<(u64, Arc<View>)>>,
}

/// What there is at one moment: for cells and for the model.
pub(crate) struct View {
    pub(crate) surface: Arc<Surface>,
    pub(crate) visible: Vec<VisibleTool>,
    pub(crate) snapshot: Arc<Snapshot>,
}

/// A tool that the model sees.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VisibleTool {
    pub(crate) name: String,
    /// Its entry in `tools/list`.
    pub(crate) listing: Value,
    pub(crate) kind: VisibleKind,
}

/// What a call to a visible tool does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum VisibleKind {
    Exec,
    Wait,
    Direct(DirectTool),
}

impl App {
    /// Starts to connect to every server and returns at once.
    pub(crate) fn start(config: Config, options: UpstreamOptions) -> Self {
        let list_can_change =
            config.code_mode.enabled == Switch::Off || config.servers.iter().any(has_direct_only);
        let reserved: &[&str] = if config.code_mode.enabled == Switch::Off {
            &[]
        } else {
            &["exec", "wait"]
        };
        Self {
            engine: OnceCell::new(),
            settings: settings(&config.code_mode),
            code_mode: config.code_mode.enabled,
            list_can_change,
            names: Mutex::new(DirectNames::new(reserved)),
            upstreams: Upstreams::start(config.servers, options),
            view: Mutex::new(None),
        }
    }

    /// Whether the model sees exec and wait. These doors have nothing to fall back to, so only `false` says no.
    pub(crate) fn has_code_mode(&self) -> bool {
        self.code_mode != Switch::Off
    }

    /// Whether servers that connect or change can change what the model sees.
    pub(crate) fn list_can_change(&self) -> bool {
        self.list_can_change
    }

    /// What there is now. Built anew only after a server has changed.
    pub(crate) fn view(&self) -> Arc<View> {
        let snapshot = self.upstreams.snapshot();
        let mut cached = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((generation, view)) = &*cached
            && *generation == snapshot.generation
        {
            return Arc::clone(view);
        }
        let generation = snapshot.generation;
        let view = Arc::new(self.build(snapshot));
        *cached = Some((generation, Arc::clone(&view)));
        view
    }

    fn build(&self, snapshot: Arc<Snapshot>) -> View {
        let surface = Arc::new(surface(&snapshot, Arc::new(self.executor())));
        let mut visible = Vec::new();
        if self.has_code_mode() {
            let own = [
                (VisibleKind::Exec, surface.exec_descriptor(&self.settings)),
                (VisibleKind::Wait, surface.wait_descriptor()),
            ];
            for (kind, descriptor) in own {
                let listing = serde_json::to_value(&descriptor).unwrap_or_default();
                visible.push(VisibleTool {
                    name: descriptor.name.into(),
                    listing,
                    kind,
                });
            }
        }
        visible.extend(self.direct_of(&snapshot));
        View {
            surface,
            visible,
            snapshot,
        }
    }

    /// The upstream tools that the model sees now.
    pub(crate) fn direct_tools(&self) -> Vec<VisibleTool> {
        self.direct_of(&self.upstreams.snapshot())
    }

    fn direct_of(&self, snapshot: &Snapshot) -> Vec<VisibleTool> {
        let wanted = |tool: &ToolDump| tool.direct_only || !self.has_code_mode();
        self.names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .list(snapshot, wanted)
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

    /// Calls a visible upstream tool; the error is text for the model.
    pub(crate) async fn call_direct(
        &self,
        target: &DirectTool,
        arguments: &Value,
        cancel: CancellationToken,
        tell: Arc<dyn Fn(String) + Send + Sync>,
    ) -> Result<Box<RawValue>, String> {
        let arguments = serde_json::value::to_raw_value(arguments).map_err(|error| error.to_string())?;
        let heard = move |progress: Progress| {
            if let Some(message) = progress.message {
                tell(message);
            }
        };
        let options = CallOptions {
            cancel,
            progress: Some(Arc::new(heard)),
            read_only: target.read_only,
        };
        self.upstreams
            .call_tool(&target.server, &target.tool, &arguments, options)
            .await
            .map_err(|error| error.to_string())
    }

    /// What carries the calls of cells to the servers.
    pub(crate) fn executor(&self) -> UpstreamTools {
        UpstreamTools {
            upstreams: self.upstreams.clone(),
        }
    }

    /// Runs a cell.
    pub(crate) async fn exec(&self, arguments: &Value, run: RunContext) -> CellResult {
        match self.engine().await {
            Ok(codecell) => codecell.exec(arguments, run).await,
            Err(error) => no_engine(error),
        }
    }

    /// Continues a suspended cell.
    pub(crate) async fn wait(&self, arguments: &Value, run: RunContext) -> CellResult {
        match self.engine().await {
            Ok(codecell) => codecell.wait(arguments, run).await,
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

    /// Ends every cell of one caller.
    pub(crate) fn end_session(&self, session: &str) {
        if let Some(Ok(codecell)) = self.engine.get() {
            codecell.abort_session(session);
        }
    }

    /// Ends every cell and every server. No child process is left when this returns.
    pub(crate) async fn shutdown(&self) {
        if let Some(Ok(codecell)) = self.engine.get() {
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

/// What cells reach through `executor` when the servers are as in `snapshot`.
pub(crate) fn surface(snapshot: &Snapshot, executor: Arc<dyn ToolExecutor>) -> Surface {
    Surface::new(tool_specs(snapshot), server_infos(snapshot), executor)
}

fn has_direct_only(server: &ServerConfig) -> bool {
    match &server.direct_only {
        DirectOnly::All => true,
        DirectOnly::Matching(globs) => !globs.patterns().is_empty(),
    }
}

/// The identity of a caller that is one connection or one command: nobody else can resume its runs.
pub(crate) fn connection_scope(agent: &str) -> Scope {
    let session = Uuid::new_v4().to_string();
    Scope {
        agent: agent.into(),
        run: session.clone(),
        session,
    }
}

fn settings(code_mode: &CodeModeSettings) -> Settings {
    let bytes = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Settings {
        languages: match (code_mode.languages.javascript, code_mode.languages.typescript) {
            (true, false) => Languages::JavaScriptOnly,
            (false, true) => Languages::TypeScriptOnly,
            _ => Languages::Both,
        },
        timeout: Duration::from_millis(code_mode.timeout_ms),
        memory_limit_bytes: bytes(code_mode.memory_limit_bytes),
        max_output_bytes: bytes(code_mode.max_output_bytes),
        max_snapshot_bytes: bytes(code_mode.max_snapshot_bytes),
        max_pending_tool_calls: bytes(code_mode.max_pending_tool_calls),
        snapshot_ttl: Duration::from_secs(code_mode.snapshot_ttl_seconds),
        search_default_limit: bytes(code_mode.search_default_limit),
        max_search_limit: bytes(code_mode.max_search_limit),
    }
    .clamped()
}

fn tool_specs(snapshot: &Snapshot) -> Vec<ToolSpec> {
    snapshot
        .servers
        .iter()
        .flat_map(|server| server.tools.iter().map(move |tool| (server, tool)))
        .map(|(server, tool)| ToolSpec {
            owner: Owner::Mcp(server.name.clone()),
            name: tool.name.clone(),
            label: tool.title.clone(),
            description: tool.description.clone(),
            parameters: tool.input_schema.clone(),
            output_schema: tool.output_schema.clone(),
            exposure: if tool.direct_only {
                Exposure::DirectOnly
            } else {
                Exposure::Catalog
            },
            // A server's own word never makes a tool replay-safe.
            replay: Replay::Unsafe,
            annotations: tool.annotations.clone(),
        })
        .collect()
}

fn server_infos(snapshot: &Snapshot) -> Vec<ServerInfo> {
    snapshot
        .servers
        .iter()
        .filter(|server| server.state != State::Disabled)
        .map(|server| ServerInfo {
            name: server.name.clone(),
            resources: server.has_resources,
            prompts: server.has_prompts,
            instructions: server.instructions.as_deref().map(str::to_owned),
            state: state_in_cells(server),
        })
        .collect()
}

/// What a cell is told of a server's state: the reason too, because its author may be able to help.
fn state_in_cells(server: &ServerSnapshot) -> String {
    let label = server.state.label();
    match &server.state {
        _ if server.stale => "stale".to_owned(),
        State::Failed { reason } | State::NeedsAuth { reason } | State::Restarting { reason } => {
            format!("{label}: {reason}")
        }
        State::Connecting => format!("{label}, try again shortly"),
        _ => label.to_owned(),
    }
}
