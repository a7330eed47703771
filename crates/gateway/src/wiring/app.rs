//! One agent: what its policy leaves of the tools, and what its model sees of them.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use codecell::tools::{ClientTools, Policy, Verdict};
use codecell::{Caller, ExecutionPath, Exposure, Languages, Owner, Settings, Surface, ToolSpec};
use serde_json::Value;
use uuid::Uuid;

use super::client_views::ClientViews;
use super::direct::{DirectNames, own_listing};
use super::guards::{self, Channel};
use super::shared::Shared;
use super::view::{RemovedTool, View, controls, server_infos, tool_specs};
use crate::config::{AgentSettings, CodeModeSettings, Switch};
use crate::debug;
use crate::upstream::Snapshot;

/// An agent at one door.
pub(crate) struct App {
    pub(crate) shared: Arc<Shared>,
    pub(crate) settings: Settings,
    agent: AgentSettings,
    channel: Channel,
    policy: Policy,
    path: ExecutionPath,
    has_code_mode: bool,
    list_can_change: bool,
    names: Mutex<DirectNames>,
    /// The view of the last generation that was asked for.
    view: Mutex<Option<(u64, Arc<View>)>>,
    client_views: ClientViews,
}

impl App {
    /// Puts an agent in front of what the process has.
    ///
    /// # Errors
    ///
    /// Fails when the policy means nothing: going on without would allow something else than what was written.
    pub(crate) fn new(shared: Arc<Shared>, agent: AgentSettings, channel: Channel) -> anyhow::Result<Self> {
        let everything = guards::policy(&shared.tools, &agent)?;
        let caller = Caller {
            sandboxed: guards::is_sandboxed(&agent, channel),
            ..Caller::default()
        };
        let policy = everything.for_caller(&caller);
        let wanted = match agent.code_mode.enabled {
            Switch::On => true,
            Switch::Off => false,
            Switch::Unset => channel.has_code_mode_unless_told(),
        };
        // A run without tools on purpose has no code mode either.
        let has_code_mode = wanted && !policy.allows_nothing();
        let list_can_change = !has_code_mode || shared.has_direct_only;
        let reserved: &[&str] = if has_code_mode { &["exec", "wait"] } else { &[] };
        let path = guards::path(
            &shared.toolbox,
            &shared.tools,
            everything,
            &shared.plugins,
            &shared.approvals,
        )?;
        Ok(Self {
            settings: settings(&agent.code_mode),
            agent,
            channel,
            policy,
            path,
            has_code_mode,
            list_can_change,
            names: Mutex::new(DirectNames::new(reserved)),
            view: Mutex::new(None),
            client_views: ClientViews::default(),
            shared,
        })
    }

    /// Whether the model sees exec and wait.
    pub(crate) fn has_code_mode(&self) -> bool {
        self.has_code_mode
    }

    /// Whether servers that connect or change can change what the model sees.
    pub(crate) fn list_can_change(&self) -> bool {
        self.list_can_change
    }

    /// Whether a call can lead to a question at all.
    pub(crate) fn may_ask(&self) -> bool {
        self.shared.may_ask
    }

    /// The agent that the app is for.
    pub(crate) fn agent(&self) -> &AgentSettings {
        &self.agent
    }

    /// The steps that tools pass.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
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
        let snapshot = self.shared.upstreams.snapshot();
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

    /// What there is now and the tools of the application that asks. Only the way of a call is this turn's own: an
    /// application that brings the same tools again finds the catalog that was built for them.
    ///
    /// `None` if the runtime ends before there is one.
    pub(crate) async fn view_with(self: &Arc<Self>, clients: &ClientTools) -> Option<View> {
        let snapshot = self.shared.upstreams.snapshot();
        let tools = clients.specs();
        let place = self.client_views.place(snapshot.generation, &tools);
        let build = || {
            let app = Arc::clone(self);
            // Off the async threads: with thousands of tools it takes longer than a scheduler likes.
            tokio::task::spawn_blocking(move || {
                // A copy: what the application calls its tools must not decide what others are called later.
                let mut names = app.names().clone();
                Arc::new(app.build_from(snapshot, tools, app.path.clone(), &mut names))
            })
        };
        let view = place.get_or_try_init(build).await.ok()?;
        let toolbox = Arc::new(self.shared.toolbox.with_client(clients));
        Some(view.along(self.path.clone().with_executor(toolbox)))
    }

    /// The effective tools, all of them, before the policy.
    pub(crate) fn all_tools(&self, snapshot: &Snapshot) -> Vec<ToolSpec> {
        self.shared
            .toolbox
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
        let own = self.policy.apply(self.shared.toolbox.specs()).kept;
        own.iter().map(|spec| own_listing(spec, &spec.name)).collect()
    }

    /// What cells would reach if calls went along `path`.
    pub(crate) fn build(&self, snapshot: Arc<Snapshot>, path: ExecutionPath) -> View {
        self.build_from(snapshot, Vec::new(), path, &mut self.names())
    }

    fn names(&self) -> MutexGuard<'_, DirectNames> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn build_from(
        &self,
        snapshot: Arc<Snapshot>,
        clients: Vec<ToolSpec>,
        path: ExecutionPath,
        names: &mut DirectNames,
    ) -> View {
        let mut all = self.all_tools(&snapshot);
        all.extend(clients);
        let applied = self.policy.apply(all);
        if let Some(emptied) = self.policy.emptied(&applied.kept) {
            tracing::warn!("{emptied}");
        }
        let visible = |tool: &&ToolSpec| !self.has_code_mode || tool.exposure == Exposure::DirectOnly;
        let direct = names.list(applied.kept.iter().filter(visible), &snapshot);
        let registrations = self.shared.plugins.namespaces().registrations();
        let mut servers = server_infos(&snapshot);
        servers.retain(|server| self.is_reachable(&server.name, &applied.kept, &snapshot));
        let surface = Surface::guarded(applied.kept, servers, path)
            .with_namespaces(&registrations, self.shared.plugin_config.clone());
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
            visible: Arc::new(visible),
            removed: Arc::new(removed.collect()),
            snapshot,
        }
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

#[cfg(test)]
mod tests {
    use codecell::tools::ToolDefinition;
    use codecell_plugins::PluginHost;
    use serde_json::json;

    use super::*;
    use crate::config::Config;
    use crate::upstream::UpstreamOptions;
    use crate::wiring::Setting;

    fn app() -> Arc<App> {
        let config = Config::default();
        let setting = Setting {
            plugins: Arc::new(PluginHost::new()),
            options: UpstreamOptions::default(),
            trajectory: None,
        };
        let shared = Shared::start(&config, setting).unwrap();
        let agent = config
            .agents
            .agent("main", &config.code_mode, &config.tools.sandbox)
            .unwrap();
        Arc::new(App::new(shared, agent, Channel::Mcp).unwrap())
    }

    fn tools(description: &str) -> ClientTools {
        let tool = ToolDefinition::new("look", description, json!({ "type": "object" }));
        ClientTools::new("app", vec![tool]).0
    }

    #[tokio::test]
    async fn an_application_that_brings_the_same_tools_again_finds_their_catalog() {
        let app = app();
        let first = app.view_with(&tools("a")).await.unwrap();
        assert!(first.surface.catalog().get("client:app:look").is_some());
        for (description, same) in [("a", true), ("b", false), ("a", true)] {
            let next = app.view_with(&tools(description)).await.unwrap();
            let is_same = std::ptr::eq(first.surface.catalog(), next.surface.catalog());
            assert_eq!(is_same, same, "{description}");
        }
    }

    #[tokio::test]
    async fn a_call_reaches_the_turn_it_belongs_to_whoever_had_the_catalog_built() {
        let app = app();
        let (first, second) = (tools("a"), tools("a"));
        app.view_with(&first).await.unwrap();
        let view = app.view_with(&second).await.unwrap();
        let tool = view.surface.catalog().shared("client:app:look").unwrap();
        let mut news = second.subscribe();
        let cancel = tokio_util::sync::CancellationToken::new();
        let caller = app.caller();
        let arguments = json!({});
        let call = view.call_direct(
            &tool,
            &arguments,
            &caller,
            0,
            cancel,
            codecell::tools::Progress::default(),
        );
        let heard = async {
            news.recv().await.unwrap();
            let pending = second.pending();
            assert!(first.pending().is_empty());
            second.answer(&pending[0].id, Ok(codecell::Json::null())).unwrap();
        };
        let (answer, ()) = tokio::join!(call, heard);
        assert!(answer.is_ok(), "{answer:?}");
    }
}
