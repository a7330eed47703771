use serde_json::Value;

/// Where a tool comes from. The order of the variants is the order of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The product itself.
    Core,
    /// A plugin that ships with the product, by plugin id.
    BundledPlugin(String),
    /// A plugin installed by the user, by plugin id.
    ExternalPlugin(String),
    /// An MCP server, by the name the user configured.
    Mcp(String),
    /// The application on the other side of the session, by its name.
    Client(String),
}

impl Owner {
    /// Whether the owner's texts and schemas may be believed: core and plugins, not MCP and clients.
    ///
    /// Only trusted text reaches a prompt, and only a trusted output schema is a promise.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        match self {
            Self::Core | Self::BundledPlugin(_) | Self::ExternalPlugin(_) => true,
            Self::Mcp(_) | Self::Client(_) => false,
        }
    }

    /// The first part of the tool's id, and what an entry calls `source`.
    #[must_use]
    pub fn source(&self) -> Source {
        match self {
            Self::Core | Self::BundledPlugin(_) | Self::ExternalPlugin(_) => Source::OpenClaw,
            Self::Mcp(_) => Source::Mcp,
            Self::Client(_) => Source::Client,
        }
    }

    /// Plugin id, server name or application; core has none.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Core => None,
            Self::BundledPlugin(name) | Self::ExternalPlugin(name) | Self::Mcp(name) | Self::Client(name) => {
                Some(name)
            }
        }
    }
}

/// The `source` of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Core and plugin tools.
    OpenClaw,
    /// Tools of MCP servers.
    Mcp,
    /// Tools of the connected application.
    Client,
}

impl Source {
    /// The spelling used in ids and entries.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenClaw => "openclaw",
            Self::Mcp => "mcp",
            Self::Client => "client",
        }
    }
}

/// Whether code mode may hide a tool behind `exec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Exposure {
    /// Hidden from the model, reachable from cells.
    #[default]
    Catalog,
    /// Stays visible to the model and out of the catalog: its result cannot cross a JSON wall.
    DirectOnly,
}

/// Whether a call may be repeated after a restart without a second effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Replay {
    /// Repeating the call changes nothing.
    Safe,
    /// Repeating the call may repeat an effect.
    #[default]
    Unsafe,
}

/// One effective tool, as policy left it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Where the tool comes from.
    pub owner: Owner,
    /// The name its owner knows it by, never rewritten.
    pub name: String,
    /// A title for people.
    pub label: Option<String>,
    /// What it does, in its owner's words.
    pub description: String,
    /// JSON Schema of its argument object.
    pub parameters: Value,
    /// JSON Schema of its structured value.
    pub output_schema: Option<Value>,
    /// Whether code mode may hide it.
    pub exposure: Exposure,
    /// Whether its owner calls it replay-safe; see [`Tool::replay`](crate::Tool::replay).
    pub replay: Replay,
    /// Hints such as MCP's `annotations`, carried and never believed.
    pub annotations: Option<Value>,
}

impl ToolSpec {
    /// A catalogued tool with the four things every tool has; the rest absent, replay unsafe.
    #[must_use]
    pub fn new(
        owner: Owner,
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
    ) -> Self {
        Self {
            owner,
            name: name.into(),
            label: None,
            description: description.into(),
            parameters,
            output_schema: None,
            exposure: Exposure::Catalog,
            replay: Replay::Unsafe,
            annotations: None,
        }
    }

    /// Whether this is one of the four Tool Search controls, which code mode replaces.
    ///
    /// Only what ships with the product can be one: an MCP tool that happens to be called `tool_call` is a tool.
    #[must_use]
    pub fn is_tool_search_control(&self) -> bool {
        matches!(self.owner, Owner::Core | Owner::BundledPlugin(_))
            && TOOL_SEARCH_CONTROLS.contains(&self.name.as_str())
    }
}

/// The controls of Tool Search, the feature code mode excludes.
const TOOL_SEARCH_CONTROLS: [&str; 4] = ["tool_search_code", "tool_search", "tool_describe", "tool_call"];
