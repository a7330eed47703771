use std::sync::Arc;

use codecell_catalog::{Catalog, ToolSpec};
use codecell_model_surface::{ExecPrompt, ToolDescriptor, exec_descriptor, wait_descriptor};
use codecell_namespaces::{McpNamespace, ServerInfo};

use crate::executor::ToolExecutor;
use crate::settings::Settings;

/// Everything that cells of one run can reach: catalog, MCP namespace, and the way to the tools.
///
/// Built once per change of the tool set and shared by all cells; a suspended cell keeps the one it started with.
pub struct Surface {
    catalog: Arc<Catalog>,
    mcp: McpNamespace,
    executor: Arc<dyn ToolExecutor>,
    visible_tools: Vec<String>,
}

impl Surface {
    /// Puts catalogued tools behind code mode; direct-only tools are kept aside for the model.
    #[must_use]
    pub fn new(tools: Vec<ToolSpec>, servers: Vec<ServerInfo>, executor: Arc<dyn ToolExecutor>) -> Self {
        let catalog = Arc::new(Catalog::build(tools));
        let mcp = McpNamespace::build(&catalog, servers);
        let controls = [codecell_model_surface::EXEC, codecell_model_surface::WAIT].map(str::to_owned);
        let direct = catalog.direct_only().iter().map(|tool| tool.name.clone());
        let visible_tools = controls.into_iter().chain(direct).collect();
        Self {
            catalog,
            mcp,
            executor,
            visible_tools,
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
        exec_descriptor(&ExecPrompt {
            catalog: &self.catalog,
            languages: settings.languages,
            mcp_servers: &servers,
            namespaces: &[],
        })
    }

    /// `wait` as the model is told of it.
    #[must_use]
    pub fn wait_descriptor(&self) -> ToolDescriptor {
        wait_descriptor()
    }

    pub(crate) fn executor(&self) -> &Arc<dyn ToolExecutor> {
        &self.executor
    }

    pub(crate) fn visible_tools(&self) -> &[String] {
        &self.visible_tools
    }
}
