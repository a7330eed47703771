use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use codecell_bridge::{BoxFuture, Json};
use codecell_catalog::{Owner, ToolId, ToolSpec};

use crate::client::ClientTools;
use crate::executor::{McpRequest, ToolCall, ToolError, ToolExecutor, ToolResult};
use crate::tool::Tool;

/// The tools of this process and of the connected application, and the way to MCP servers for everything else.
///
/// Finds a tool by its exact catalog id and by nothing else.
pub struct Toolbox {
    specs: Vec<ToolSpec>,
    tools: HashMap<ToolId, Place>,
    mcp: Option<Arc<dyn ToolExecutor>>,
}

#[derive(Clone)]
enum Place {
    Here(Arc<dyn Tool>),
    Client(ClientTools),
}

/// Collects tools for a [`Toolbox`].
#[derive(Default)]
#[must_use]
pub struct ToolboxBuilder {
    tools: Vec<(Owner, Arc<dyn Tool>)>,
    clients: Vec<ClientTools>,
    mcp: Option<Arc<dyn ToolExecutor>>,
}

/// Why tools make no toolbox. Their authors correct it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolboxError {
    /// Two tools of one owner have the same name.
    #[error("tool `{id}` is there twice; an owner's tools need different names")]
    Duplicate {
        /// The id both would have.
        id: ToolId,
    },
    /// A tool has no name.
    #[error("a tool of {} has no name", .plugin.as_deref().map_or("core".to_owned(), |plugin| format!("plugin `{plugin}`")))]
    Unnamed {
        /// Its plugin; none for a core tool.
        plugin: Option<String>,
    },
}

impl Toolbox {
    /// Starts with no tools.
    pub fn builder() -> ToolboxBuilder {
        ToolboxBuilder::default()
    }

    /// The same and the tools of an application, for one run. Tools that are there already stay what they are.
    #[must_use]
    pub fn with_client(&self, client: &ClientTools) -> Self {
        let mut specs = self.specs.clone();
        let mut tools = self.tools.clone();
        for spec in client.specs() {
            let id = ToolId::new(&spec.owner, &spec.name);
            if let Entry::Vacant(free) = tools.entry(id) {
                free.insert(Place::Client(client.clone()));
                specs.push(spec);
            }
        }
        Self {
            specs,
            tools,
            mcp: self.mcp.clone(),
        }
    }

    /// What the catalog is to know of the tools in here, in the catalog's order. MCP tools are for whoever carries
    /// their calls to list.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.specs.clone()
    }
}

impl ToolboxBuilder {
    /// Adds a tool of the product itself.
    pub fn core(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push((Owner::Core, tool));
        self
    }

    /// Adds a tool of a plugin, which either ships with the product or was installed.
    pub fn plugin(mut self, id: impl Into<String>, bundled: bool, tool: Arc<dyn Tool>) -> Self {
        let owner = if bundled {
            Owner::BundledPlugin(id.into())
        } else {
            Owner::ExternalPlugin(id.into())
        };
        self.tools.push((owner, tool));
        self
    }

    /// Adds the tools of the application on the other side.
    pub fn client(mut self, tools: ClientTools) -> Self {
        self.clients.push(tools);
        self
    }

    /// Says who carries calls to MCP servers.
    pub fn mcp(mut self, executor: Arc<dyn ToolExecutor>) -> Self {
        self.mcp = Some(executor);
        self
    }

    /// Puts the tools in order.
    ///
    /// # Errors
    ///
    /// Fails when a tool has no name, or the same id as another one.
    pub fn build(self) -> Result<Toolbox, ToolboxError> {
        let here = self.tools.into_iter().map(|(owner, tool)| {
            let spec = tool.definition().into_spec(owner);
            (spec, Place::Here(tool))
        });
        let there = self.clients.iter().flat_map(|client| {
            let specs = client.specs().into_iter();
            specs.map(|spec| (spec, Place::Client(client.clone())))
        });
        let mut specs = Vec::new();
        let mut tools = HashMap::new();
        for (spec, place) in here.chain(there) {
            if spec.name.trim().is_empty() {
                let plugin = spec.owner.name().map(str::to_owned);
                return Err(ToolboxError::Unnamed { plugin });
            }
            let id = ToolId::new(&spec.owner, &spec.name);
            if tools.insert(id.clone(), place).is_some() {
                return Err(ToolboxError::Duplicate { id });
            }
            specs.push(spec);
        }
        specs.sort_by(|a, b| (&a.owner, &a.name).cmp(&(&b.owner, &b.name)));
        Ok(Toolbox {
            specs,
            tools,
            mcp: self.mcp,
        })
    }
}

impl ToolExecutor for Toolbox {
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        if let Owner::Mcp(server) = call.owner() {
            return match &self.mcp {
                Some(mcp) => mcp.execute(call),
                None => failed(
                    "unknown_server",
                    format!("there is no MCP server `{server}` here"),
                ),
            };
        }
        match self.tools.get(call.tool.id()) {
            Some(Place::Here(tool)) => tool.call(call),
            Some(Place::Client(client)) => client.call(call),
            None => failed(
                "unknown_tool",
                format!("there is no tool `{}` here", call.tool.id()),
            ),
        }
    }

    fn mcp_request(&self, request: McpRequest) -> BoxFuture<Result<Json, ToolError>> {
        match &self.mcp {
            Some(mcp) => mcp.mcp_request(request),
            None => {
                let message = format!("there is no MCP server `{}` here", request.server);
                Box::pin(async move { Err(ToolError::new("unknown_server", message)) })
            }
        }
    }
}

fn failed(code: &'static str, message: String) -> BoxFuture<Result<ToolResult, ToolError>> {
    Box::pin(async move { Err(ToolError::new(code, message)) })
}
