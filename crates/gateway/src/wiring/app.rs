use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use codecell::tools::{Approvals, CallContext, Policy, Progress, Toolbox, Verdict};
use codecell::{
    Caller, CellResult, Codecell, EngineOptions, ErrorCode, ExecutionPath, Exposure, Json, Languages, Owner,
    RunContext, Settings, Surface, Telemetry, Tool, ToolExecutor, ToolResult, ToolSpec,
};
use codecell_plugins::PluginHost;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::direct::{DirectNames, own_listing};
use super::executor::UpstreamTools;
use super::guards::{self, Channel};
use super::record::Record;
use super::view::{RemovedTool, View, controls, server_infos, tool_specs};
use crate::approvals::Desk;
use crate::config::{AgentSettings, CodeModeSettings, Config, DirectOnly, ServerConfig, Switch};
use crate::debug;
use crate::upstream::{Snapshot, UpstreamOptions, Upstreams, WaitFor};

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
    /// Questions that wait for a person.
    pub(crate) approvals: Approvals,
    agent: AgentSettings,
    channel: Channel,
    policy: Policy,
    path: ExecutionPath,
    toolbox: Arc<Toolbox>,
    plugins: Arc<PluginHost>,
    plugin_config: Value,
    has_code_mode: bool,
    may_ask: bool,
    list_can_change: bool,
    names: Mutex<DirectNames>,
    trajectory: Option<PathBuf>,
    /// The view of the last generation that was asked for.
    view: Mutex<Option<(u64, Arc<View>)>>,
}

/// Who the app is for, and what is linked into it.
pub(crate) struct Setting {
    pub(crate) agent: AgentSettings,
    pub(crate) channel: Channel,
    pub(crate) plugins: Arc<PluginHost>,
    pub(crate) options: UpstreamOptions,
    /// Where the trajectory is written, if anywhere.
    pub(crate) trajectory: Option<PathBuf>,
}

impl App {
    /// Starts to connect to every server and returns at once.
    ///
    /// # Errors
    ///
    /// Fails when the tools of this process cannot be had as they are configured, or the policy means nothing: going
    /// on without would allow or promise something else than what was written.
    pub(crate) fn start(config: Config, setting: Setting) -> anyhow::Result<Self> {
        let Setting {
            agent,
            channel,
            plugins,
            options,
            trajectory,
        } = setting;
        let everything = guards::policy(&config.tools, &agent)?;
        let caller = Caller {
            sandboxed: guards::is_sandboxed(&agent, channel),
            ..Caller::default()
        };
        let policy = everything.for_caller(&caller);
        // A run without tools on purpose has no code mode either.
        let has_code_mode = agent.code_mode.enabled != Switch::Off && !policy.allows_nothing();
        let list_can_change = !has_code_mode || config.servers.iter().any(has_direct_only);
        let reserved: &[&str] = if has_code_mode { &["exec", "wait"] } else { &[] };
        let plugin_config = config.plugins.iter();
        let plugin_config = plugin_config
            .map(|(id, entry)| (id.clone(), entry.config.clone()))
            .collect();
        let upstreams = Upstreams::start(config.servers, options);
        let servers: Arc<dyn ToolExecutor> = Arc::new(UpstreamTools {
            upstreams: upstreams.clone(),
        });
        let toolbox = Arc::new(guards::toolbox(&config.tools, &plugins, servers)?);
        let may_ask = !config.tools.ask.is_empty() || !plugins.plugins().is_empty();
        let approvals = Approvals::new();
        let path = guards::path(&toolbox, &config.tools, everything, &plugins, &approvals)?;
        Ok(Self {
            engine: OnceCell::new(),
            settings: settings(&agent.code_mode),
            approvals,
            agent,
            channel,
            policy,
            path,
            toolbox,
            plugins,
            plugin_config,
            has_code_mode,
            may_ask,
            list_can_change,
            names: Mutex::new(DirectNames::new(reserved)),
            trajectory,
            upstreams,
            view: Mutex::new(None),
        })
    }

    /// Whether the model sees exec and wait. These doors have nothing to fall back to, so only `false` says no.
    pub(crate) fn has_code_mode(&self) -> bool {
        self.has_code_mode
    }

    /// Whether servers that connect or change can change what the model sees.
    pub(crate) fn list_can_change(&self) -> bool {
        self.list_can_change
    }

    /// Whether a call can lead to a question at all.
    pub(crate) fn may_ask(&self) -> bool {
        self.may_ask
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

    /// The agent that the app is for.
    pub(crate) fn agent(&self) -> &AgentSettings {
        &self.agent
    }

    /// The steps that tools pass.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
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

    /// A new session of the agent; nobody else can resume its runs.
    pub(crate) fn caller(&self) -> Caller {
        let session = Uuid::new_v4().to_string();
        Caller {
            channel: Some(self.channel.name().into()),
            sandboxed: guards::is_sandboxed(&self.agent, self.channel),
            ..Caller::new(self.agent.id.clone(), session.clone(), session)
        }
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
        let view = Arc::new(self.build(snapshot, self.path.clone()));
        *cached = Some((generation, Arc::clone(&view)));
        view
    }

    /// The effective tools, all of them, before the policy.
    pub(crate) fn all_tools(&self, snapshot: &Snapshot) -> Vec<ToolSpec> {
        self.toolbox
            .specs()
            .into_iter()
            .chain(tool_specs(snapshot))
            .collect()
    }

    /// Whether the policy leaves anything of a server. One of which nothing is left is not named to anybody; one
    /// whose tools are not known yet may still have some that are allowed.
    fn is_reachable(&self, server: &str, kept: &[ToolSpec], snapshot: &Snapshot) -> bool {
        let owner = Owner::Mcp(server.to_owned());
        let reading = ToolSpec::new(owner.clone(), "resources/read", "", Value::Null);
        let unknown = snapshot
            .server(server)
            .is_none_or(|server| server.tools.is_empty());
        match self.policy.decide(&reading) {
            Verdict::Allowed => true,
            Verdict::Removed(removed) => {
                kept.iter().any(|tool| tool.owner == owner) || (unknown && removed.rule.is_none())
            }
        }
    }

    /// The tools of this process as a model without code mode would be told of them.
    pub(crate) fn own_listings(&self) -> Vec<Value> {
        let own = self.policy.apply(self.toolbox.specs()).kept;
        own.iter().map(|spec| own_listing(spec, &spec.name)).collect()
    }

    /// What cells would reach if calls went along `path`.
    pub(crate) fn build(&self, snapshot: Arc<Snapshot>, path: ExecutionPath) -> View {
        let applied = self.policy.apply(self.all_tools(&snapshot));
        if let Some(emptied) = self.policy.emptied(&applied.kept) {
            tracing::warn!("{emptied}");
        }
        let visible = |tool: &&ToolSpec| !self.has_code_mode || tool.exposure == Exposure::DirectOnly;
        let direct = self
            .names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .list(applied.kept.iter().filter(visible), &snapshot);
        let registrations = self.plugins.namespaces().registrations();
        let mut servers = server_infos(&snapshot);
        servers.retain(|server| self.is_reachable(&server.name, &applied.kept, &snapshot));
        let surface = Surface::guarded(applied.kept, servers, path)
            .with_namespaces(&registrations, self.plugin_config.clone());
        let mut visible = Vec::new();
        if self.has_code_mode {
            visible = controls(&surface, &self.settings);
        }
        visible.extend(direct);
        let names: Vec<&str> = visible.iter().map(|tool| tool.name.as_str()).collect();
        debug::surface(&names, surface.catalog().len(), applied.removed.len());
        let removed = applied.removed.into_iter().map(|(id, removed)| RemovedTool {
            is_mcp: id.as_str().starts_with("mcp:"),
            id: id.to_string(),
            step: removed.step,
            config_key: removed.config_key,
        });
        View {
            surface: Arc::new(surface),
            visible,
            removed: removed.collect(),
            snapshot,
        }
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

    /// Calls a visible tool; gives the result in MCP's shape. The error is text for the model.
    pub(crate) async fn call_direct(
        &self,
        tool: &Arc<Tool>,
        arguments: &Value,
        caller: &Caller,
        cancel: CancellationToken,
        progress: Progress,
    ) -> Result<String, String> {
        let context = CallContext {
            caller: Arc::new(caller.clone()),
            cell: None,
            number: 0,
            cancel,
            progress,
        };
        let delivered = self.path.call(tool, Some(&Json::from(arguments)), context).await;
        match delivered {
            Ok(delivered) if tool.is_mcp() => Ok(delivered.result.result.to_string()),
            Ok(delivered) => Ok(mcp_shape(&delivered.result)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// What carries calls to the servers and nothing else.
    pub(crate) fn servers(&self) -> UpstreamTools {
        UpstreamTools {
            upstreams: self.upstreams.clone(),
        }
    }

    /// Runs a cell.
    pub(crate) async fn exec(&self, arguments: &Value, run: RunContext) -> CellResult {
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

/// The result of a tool of this process, as MCP has it: objects are structured content, everything is text.
fn mcp_shape(result: &ToolResult) -> String {
    let mut fields = match result.result.read::<Value>() {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.remove("details");
    if let Some(value) = &result.value
        && let Ok(value @ Value::Object(_)) = value.read()
    {
        fields.insert("structuredContent".into(), value);
    }
    fields
        .entry("content")
        .or_insert_with(|| Value::Array(Vec::new()));
    if result.is_error {
        fields.insert("isError".into(), true.into());
    }
    Value::Object(fields).to_string()
}

fn has_direct_only(server: &ServerConfig) -> bool {
    match &server.direct_only {
        DirectOnly::All => true,
        DirectOnly::Matching(globs) => !globs.patterns().is_empty(),
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
