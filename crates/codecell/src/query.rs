//! Answers the questions a guest asks while it stands still.

use codecell_bridge::Thrown;
use codecell_catalog::Reach;
use codecell_namespaces::{ApiSelector, OpenNamespaces};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::thrown_by_namespace;
use crate::settings::Settings;
use crate::surface::Surface;

/// A question, as the guest's prelude writes it. Arguments of the program come as they are, so that a wrong one
/// gets an answer that says what is wrong.
#[derive(Debug, Deserialize)]
#[serde(tag = "op")]
pub(crate) enum Question {
    #[serde(rename = "tools.search")]
    Search {
        #[serde(default)]
        query: Value,
        #[serde(default)]
        limit: Option<Value>,
    },
    #[serde(rename = "tools.describe")]
    Describe {
        #[serde(default)]
        id: Value,
    },
    #[serde(rename = "tools.all")]
    All,
    #[serde(rename = "tools.names")]
    Names,
    #[serde(rename = "tools.resolve")]
    Resolve { name: String },
    #[serde(rename = "api.list")]
    ApiList {
        #[serde(default)]
        prefix: Option<Value>,
    },
    #[serde(rename = "api.read")]
    ApiRead {
        #[serde(default)]
        path: Value,
    },
    #[serde(rename = "ns.list")]
    Namespaces,
    #[serde(rename = "ns.tree")]
    Tree { name: String },
    #[serde(rename = "mcp.servers")]
    McpServers,
    #[serde(rename = "mcp.server")]
    McpServer { server: String },
    #[serde(rename = "mcp.api")]
    McpApi {
        #[serde(default)]
        server: Option<String>,
        #[serde(default)]
        tool: Option<Value>,
        #[serde(default)]
        schema: bool,
    },
    #[serde(rename = "mcp.search")]
    McpSearch {
        #[serde(default)]
        query: Value,
        #[serde(default)]
        limit: Option<Value>,
    },
}

/// Which counter a question moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Search,
    Describe,
    Nothing,
}

impl Question {
    pub(crate) fn read(text: &str) -> Result<Self, Thrown> {
        serde_json::from_str(text).map_err(|error| {
            Thrown::error(
                "internal_error",
                format!("the question was not understood: {error}"),
            )
        })
    }

    pub(crate) fn counted(&self) -> Counted {
        match self {
            Self::Search { .. } | Self::McpSearch { .. } => Counted::Search,
            Self::Describe { .. } => Counted::Describe,
            _ => Counted::Nothing,
        }
    }

    /// The answer as JSON text.
    pub(crate) fn answer(
        &self,
        surface: &Surface,
        namespaces: &OpenNamespaces,
        settings: &Settings,
    ) -> Result<String, Thrown> {
        let (catalog, mcp) = (surface.catalog(), surface.mcp());
        match self {
            Self::Search { query, limit } => {
                let found = catalog.search(query_text(query)?, hits(limit.as_ref(), settings)?, Reach::Guest);
                text(
                    &found
                        .into_iter()
                        .map(codecell_catalog::Tool::entry)
                        .collect::<Vec<_>>(),
                )
            }
            Self::Describe { id } => {
                let id = string(id, "describe id")?;
                let tool = catalog
                    .lookup(id, Reach::Guest)
                    .map_err(|error| Thrown::error("invalid_input", error.to_string()))?;
                text(&catalog.describe(tool))
            }
            Self::All => text(&catalog.guest_entries().collect::<Vec<_>>()),
            Self::Names => text(&catalog.callable_names().collect::<Vec<_>>()),
            Self::Resolve { name } => text(&catalog.by_callable_name(name).map(codecell_catalog::Tool::id)),
            Self::ApiList { prefix } => {
                let prefix = match prefix {
                    None | Some(Value::Null) => None,
                    Some(prefix) => Some(string(prefix, "API.list prefix")?),
                };
                text(&mcp.files().list(prefix))
            }
            Self::ApiRead { path } => {
                let path = string(path, "API.read path")?;
                let content = mcp
                    .files()
                    .read(path)
                    .map_err(|error| Thrown::error("invalid_input", error.to_string()))?;
                text(&content)
            }
            Self::Namespaces => {
                // There also when it is empty: a program that asks finds out by asking.
                let mcp = [json!({ "name": "MCP", "kind": "mcp" })];
                let plugins = surface
                    .namespaces()
                    .list()
                    .map(|name| json!({ "name": name, "kind": "tree" }));
                text(&mcp.into_iter().chain(plugins).collect::<Vec<_>>())
            }
            Self::Tree { name } => namespaces
                .tree(name)
                .map(str::to_owned)
                .map_err(|error| thrown_by_namespace(&error)),
            Self::McpServers => text(&mcp.servers().map(|server| server.identifier).collect::<Vec<_>>()),
            Self::McpServer { server } => text(&mcp.members(server)),
            Self::McpApi { server, tool, schema } => {
                let tool = match tool {
                    None | Some(Value::Null) => None,
                    Some(tool) => Some(string(tool, "$api tool name")?),
                };
                text(&mcp.api(ApiSelector {
                    server: server.as_deref(),
                    tool,
                    schema: *schema,
                }))
            }
            Self::McpSearch { query, limit } => {
                text(&mcp.search(catalog, query_text(query)?, hits(limit.as_ref(), settings)?))
            }
        }
    }
}

fn text(answer: &impl serde::Serialize) -> Result<String, Thrown> {
    serde_json::to_string(answer).map_err(|error| {
        Thrown::error(
            "internal_error",
            format!("the answer could not be written: {error}"),
        )
    })
}

fn query_text(query: &Value) -> Result<&str, Thrown> {
    string(query, "search query")
}

pub(crate) fn string<'a>(value: &'a Value, what: &str) -> Result<&'a str, Thrown> {
    value
        .as_str()
        .ok_or_else(|| Thrown::type_error(format!("{what} must be a string.")))
}

/// How many hits are wanted: the default if nothing useful was said, never more than the maximum.
fn hits(limit: Option<&Value>, settings: &Settings) -> Result<usize, Thrown> {
    let Some(Value::Number(limit)) = limit else {
        return Ok(settings.search_default_limit);
    };
    let whole = limit.as_u64().or_else(|| {
        // `8.0` is how some engines write 8.
        limit
            .as_f64()
            .filter(|n| n.fract() == 0.0 && *n >= 1.0)
            .map(|_| u64::MAX)
    });
    match whole {
        Some(n @ 1..) => Ok(usize::try_from(n)
            .unwrap_or(usize::MAX)
            .min(settings.max_search_limit)),
        _ => Err(Thrown {
            name: "RangeError".into(),
            message: "limit must be a positive integer.".into(),
            ..Thrown::default()
        }),
    }
}
