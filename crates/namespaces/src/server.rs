//! Servers as the namespace knows them.

use std::{collections::HashMap, sync::OnceLock};

use codecell_catalog::{Catalog, Tool, ToolId, schema::comment};
use codecell_mcp_decls::{ServerMeta, ServerSummary, ToolMeta, schemas_file, server_file};
use serde::Serialize;

use crate::path::PathError;

/// What is known of a server besides its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    /// Name in the configuration, as in the owner of its tools.
    pub name: String,
    /// Whether it serves resources.
    pub resources: bool,
    /// Whether it serves prompts.
    pub prompts: bool,
    /// What the server says about itself; untrusted.
    pub instructions: Option<String>,
    /// A few words for a reader, such as `ready`, `stale` or `failed: …`.
    pub state: String,
}

impl ServerInfo {
    /// A server that is ready and has nothing but tools.
    #[must_use]
    pub fn ready(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            resources: false,
            prompts: false,
            instructions: None,
            state: READY.to_owned(),
        }
    }
}

/// Longest state that an error repeats: the last words of a server that did not start are part of it.
const MAX_STATE_CHARS: usize = 600;

/// The state that nobody needs to be told of.
const READY: &str = "ready";

/// A server, seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerRef<'a> {
    /// Name under `MCP`.
    pub identifier: &'a str,
    /// Name in the configuration.
    pub server_name: &'a str,
    /// How many tools it has.
    pub tool_count: usize,
}

/// What an object for one server holds in the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Members {
    /// Name in the configuration.
    pub server_name: String,
    /// Callable names, one per tool.
    pub methods: Vec<String>,
    /// Whether there is a `resources` object.
    pub resources: bool,
    /// Whether there is a `prompts` object.
    pub prompts: bool,
    /// Whether the tools are not known because the server is not there: then any name may be tried, and the answer
    /// is why it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unready: bool,
}

/// A callable name and the tool behind it.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) id: ToolId,
}

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) identifier: String,
    pub(crate) info: ServerInfo,
    pub(crate) methods: Vec<Method>,
    pub(crate) by_name: HashMap<String, usize>,
    declarations: OnceLock<String>,
    schema_bytes: OnceLock<usize>,
}

impl Server {
    pub(crate) fn new(identifier: String, info: ServerInfo, methods: Vec<Method>) -> Self {
        let by_name = methods
            .iter()
            .enumerate()
            .map(|(at, method)| (method.name.clone(), at))
            .collect();
        Self {
            identifier,
            info,
            methods,
            by_name,
            declarations: OnceLock::new(),
            schema_bytes: OnceLock::new(),
        }
    }

    pub(crate) fn as_ref(&self) -> ServerRef<'_> {
        ServerRef {
            identifier: &self.identifier,
            server_name: &self.info.name,
            tool_count: self.methods.len(),
        }
    }

    pub(crate) fn method(&self, name: &str) -> Option<&Method> {
        self.by_name.get(name).and_then(|at| self.methods.get(*at))
    }

    /// The state, unless it is the one to expect.
    pub(crate) fn remark(&self) -> &str {
        if self.info.state == READY {
            ""
        } else {
            &self.info.state
        }
    }

    /// Why nothing of this server can be called, if that is so.
    pub(crate) fn unavailable(&self) -> Option<PathError> {
        (self.methods.is_empty() && !self.remark().is_empty()).then(|| PathError::Unavailable {
            server: self.info.name.clone(),
            state: comment(&self.info.state, MAX_STATE_CHARS),
        })
    }

    pub(crate) fn summary(&self) -> ServerSummary<'_> {
        ServerSummary {
            identifier: &self.identifier,
            server_name: &self.info.name,
            tools: self.methods.len(),
            resources: self.info.resources,
            prompts: self.info.prompts,
            state: self.remark(),
        }
    }

    /// The server as the renderers want it; `catalog` is the one the methods were named from.
    pub(crate) fn meta<'a>(&'a self, catalog: &'a Catalog) -> ServerMeta<'a> {
        ServerMeta {
            tools: self
                .methods
                .iter()
                .filter_map(|method| Some(tool_meta(&method.name, catalog.get(method.id.as_str())?)))
                .collect(),
            resources: self.info.resources,
            prompts: self.info.prompts,
            instructions: self.info.instructions.as_deref(),
            ..ServerMeta::new(&self.identifier, &self.info.name)
        }
    }

    /// The declaration file, rendered once.
    pub(crate) fn declarations(&self, catalog: &Catalog) -> &str {
        self.declarations.get_or_init(|| server_file(&self.meta(catalog)))
    }

    /// The schema file. It can be large and is rarely read, so it is not kept.
    pub(crate) fn schemas(&self, catalog: &Catalog) -> String {
        schemas_file(&self.meta(catalog))
    }

    pub(crate) fn schema_bytes(&self, catalog: &Catalog) -> usize {
        *self.schema_bytes.get_or_init(|| self.schemas(catalog).len())
    }
}

pub(crate) fn tool_meta<'a>(method: &'a str, tool: &'a Tool) -> ToolMeta<'a> {
    let spec = tool.spec();
    ToolMeta {
        title: spec.label.as_deref(),
        output_schema: spec.output_schema.as_ref(),
        annotations: spec.annotations.as_ref(),
        ..ToolMeta::new(method, &spec.name, &spec.description, &spec.parameters)
    }
}
