use std::sync::Arc;

use codecell_catalog::{Catalog, ToolSpec};
use codecell_model_surface::{ExecPrompt, NamespacePrompt, ToolDescriptor, exec_descriptor, wait_descriptor};
use codecell_namespaces::{
    McpNamespace, OpenNamespaces, PluginNamespaces, Registrations, ScopeContext, ServerInfo,
};
use codecell_tools::{Caller, ExecutionPath, ToolExecutor};
use serde_json::Value;

use crate::settings::Settings;

/// Everything that cells of one run can reach: catalog, MCP namespace, and the way to the tools.
///
/// Built once per change of the tool set and shared by all cells; a suspended cell keeps the one it started with.
pub struct Surface {
    catalog: Arc<Catalog>,
    mcp: Arc<McpNamespace>,
    namespaces: PluginNamespaces,
    namespace_config: Arc<Value>,
    path: ExecutionPath,
    visible_tools: Arc<[String]>,
}

impl Surface {
    /// Puts catalogued tools behind code mode; direct-only tools are kept aside for the model. Calls meet no policy,
    /// no hooks and nobody who approves them.
    #[must_use]
    pub fn new(tools: Vec<ToolSpec>, servers: Vec<ServerInfo>, executor: Arc<dyn ToolExecutor>) -> Self {
        Self::guarded(tools, servers, ExecutionPath::bare(executor))
    }

    /// As [`new`](Self::new), with calls that take `path`.
    #[must_use]
    pub fn guarded(tools: Vec<ToolSpec>, servers: Vec<ServerInfo>, path: ExecutionPath) -> Self {
        let catalog = Arc::new(Catalog::build(tools));
        let mcp = Arc::new(McpNamespace::build(&catalog, servers));
        let controls = [codecell_model_surface::EXEC, codecell_model_surface::WAIT].map(str::to_owned);
        let direct = catalog.direct_only().iter().map(|tool| tool.name.clone());
        let visible_tools = controls.into_iter().chain(direct).collect();
        Self {
            catalog,
            mcp,
            namespaces: PluginNamespaces::default(),
            namespace_config: Arc::default(),
            path,
            visible_tools,
        }
    }

    /// Adds the plugin namespaces whose tools are here. `config` is what the plugins' `create_scope` is given.
    #[must_use]
    pub fn with_namespaces(mut self, registrations: &Registrations, config: Value) -> Self {
        self.namespaces = PluginNamespaces::visible(registrations, &self.catalog);
        self.namespace_config = Arc::new(config);
        self
    }

    /// The same tools, reached along another path. Everything but the path is shared, so this costs next to nothing.
    #[must_use]
    pub fn along(&self, path: ExecutionPath) -> Self {
        Self {
            path,
            catalog: Arc::clone(&self.catalog),
            mcp: Arc::clone(&self.mcp),
            namespaces: self.namespaces.clone(),
            namespace_config: Arc::clone(&self.namespace_config),
            visible_tools: Arc::clone(&self.visible_tools),
        }
    }

    /// The hidden tools.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The `MCP` namespace and its declaration files.
    #[must_use]
    pub fn mcp(&self) -> &McpNamespace {
        &self.mcp
    }

    /// Tools that the model goes on seeing, because their results cannot cross a JSON wall.
    #[must_use]
    pub fn direct_tools(&self) -> &[ToolSpec] {
        self.catalog.direct_only()
    }

    /// `exec` as the model is told of it.
    #[must_use]
    pub fn exec_descriptor(&self, settings: &Settings) -> ToolDescriptor {
        let servers: Vec<&str> = self.mcp.servers().map(|server| server.identifier).collect();
        let namespaces: Vec<NamespacePrompt<'_>> = self
            .namespaces
            .prompts()
            .map(|namespace| NamespacePrompt {
                global_name: namespace.global_name,
                description: namespace.description,
                prompt: namespace.prompt,
            })
            .collect();
        exec_descriptor(&ExecPrompt {
            catalog: &self.catalog,
            languages: settings.languages,
            mcp_servers: &servers,
            namespaces: &namespaces,
        })
    }

    /// `wait` as the model is told of it.
    #[must_use]
    pub fn wait_descriptor(&self) -> ToolDescriptor {
        wait_descriptor()
    }

    /// The way to the tools, for direct calls as for nested ones.
    #[must_use]
    pub fn path(&self) -> &ExecutionPath {
        &self.path
    }

    /// The plugin namespaces that its cells see.
    #[must_use]
    pub fn namespaces(&self) -> &PluginNamespaces {
        &self.namespaces
    }

    /// The plugin namespaces with the scopes of one run.
    pub(crate) fn open_namespaces(&self, caller: &Caller) -> OpenNamespaces {
        self.namespaces.open(&ScopeContext {
            agent: &caller.agent,
            session: &caller.session,
            run: &caller.run,
            config: &self.namespace_config,
        })
    }

    pub(crate) fn visible_tools(&self) -> &[String] {
        &self.visible_tools
    }
}
