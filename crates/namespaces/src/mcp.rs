//! The `MCP` namespace of one catalog.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use codecell_catalog::{Catalog, LookupError, Owner, Reach, ToolId, schema::comment};
use serde_json::{Value, json};

use crate::{
    api::{self, ApiSelector},
    files::ApiFiles,
    names::{SERVERS, TOOLS},
    path::{PathError, Target},
    server::{Members, Method, Server, ServerInfo, ServerRef},
};

/// Most servers that an error lists.
const MAX_LISTED: usize = 8;
/// Longest path that an error repeats.
const MAX_SHOWN_CHARS: usize = 120;
/// Longest description of a search hit; `$api` has the whole.
const MAX_HIT_CHARS: usize = 240;

/// All MCP servers of one catalog under `MCP`: names, paths, declarations, search.
#[derive(Debug)]
pub struct McpNamespace {
    files: ApiFiles,
    by_identifier: HashMap<String, usize>,
    /// Tool id to server and method.
    by_tool: HashMap<String, (usize, usize)>,
}

impl McpNamespace {
    /// Names the servers in the order given, and each one's tools in catalog order.
    ///
    /// A server listed later never renames one listed earlier. Owners of tools that are not listed follow in
    /// catalog order; a name listed twice counts once. Nothing is rendered yet.
    #[must_use]
    pub fn build(catalog: &Arc<Catalog>, servers: Vec<ServerInfo>) -> Self {
        let mut infos: Vec<ServerInfo> = Vec::with_capacity(servers.len());
        let mut position: HashMap<String, usize> = HashMap::new();
        for info in servers {
            if !position.contains_key(&info.name) {
                position.insert(info.name.clone(), infos.len());
                infos.push(info);
            }
        }
        let mut tools: Vec<Vec<_>> = infos.iter().map(|_| Vec::new()).collect();
        for tool in catalog.tools() {
            let Owner::Mcp(name) = &tool.spec().owner else {
                continue;
            };
            let at = *position.entry(name.clone()).or_insert_with(|| {
                infos.push(ServerInfo::ready(name));
                tools.push(Vec::new());
                infos.len() - 1
            });
            if let Some(tools) = tools.get_mut(at) {
                tools.push(tool);
            }
        }

        let identifiers = SERVERS.assign_in_order(infos.iter().map(|info| info.name.as_str()));
        let servers: Vec<Server> = identifiers
            .into_iter()
            .zip(infos)
            .zip(tools)
            .map(|((identifier, info), tools)| {
                let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
                let methods = TOOLS
                    .assign_exact_first(&names)
                    .into_iter()
                    .zip(tools)
                    .map(|(name, tool)| Method {
                        name,
                        id: tool.id().clone(),
                    })
                    .collect();
                Server::new(identifier, info, methods)
            })
            .collect();
        let by_identifier = servers
            .iter()
            .enumerate()
            .map(|(at, server)| (server.identifier.clone(), at))
            .collect();
        let by_tool = servers
            .iter()
            .enumerate()
            .flat_map(|(at, server)| {
                let methods = server.methods.iter().enumerate();
                methods.map(move |(method, tool)| (tool.id.as_str().to_owned(), (at, method)))
            })
            .collect();
        Self {
            files: ApiFiles::new(Arc::clone(catalog), servers),
            by_identifier,
            by_tool,
        }
    }

    /// The servers, in the order they were given.
    pub fn servers(&self) -> impl Iterator<Item = ServerRef<'_>> {
        self.files.servers().iter().map(Server::as_ref)
    }

    /// What the guest's object for `server` (an identifier) holds.
    #[must_use]
    pub fn members(&self, server: &str) -> Option<Members> {
        let server = self.server(server)?;
        Some(Members {
            server_name: server.info.name.clone(),
            methods: server.methods.iter().map(|method| method.name.clone()).collect(),
            resources: server.info.resources,
            prompts: server.info.prompts,
            unready: server.unavailable().is_some(),
        })
    }

    /// What `MCP.<path>(…)` calls.
    ///
    /// # Errors
    ///
    /// Fails when the path names nothing callable; the message suggests what does.
    pub fn resolve(&self, path: &[&str]) -> Result<Target, PathError> {
        let shown = || comment(&path.join("."), MAX_SHOWN_CHARS);
        let Some((identifier, rest)) = path.split_first() else {
            return Err(PathError::NotCallable { path: shown() });
        };
        let Some(server) = self.server(identifier) else {
            return Err(PathError::UnknownServer {
                asked: comment(identifier, MAX_SHOWN_CHARS),
                servers: self.likely_servers(identifier),
            });
        };
        if let Some(unavailable) = server.unavailable() {
            return Err(unavailable);
        }
        let name = || server.info.name.clone();
        let target = match rest {
            [method] if !matches!(*method, "resources" | "prompts") => {
                return match server.method(method) {
                    Some(method) => Ok(Target::Tool(method.id.clone())),
                    None => Err(PathError::UnknownMethod {
                        path: shown(),
                        nearest: self.nearest(server, method),
                    }),
                };
            }
            ["resources", "list"] => Target::ResourcesList { server: name() },
            ["resources", "read"] => Target::ResourcesRead { server: name() },
            ["prompts", "list"] => Target::PromptsList { server: name() },
            ["prompts", "get"] => Target::PromptsGet { server: name() },
            _ => return Err(PathError::NotCallable { path: shown() }),
        };
        let (served, what) = match target {
            Target::PromptsList { .. } | Target::PromptsGet { .. } => (server.info.prompts, "prompts"),
            _ => (server.info.resources, "resources"),
        };
        if served {
            Ok(target)
        } else {
            Err(PathError::NotServed { server: name(), what })
        }
    }

    /// Why a tool with this id cannot be there: its server is configured and not available.
    #[must_use]
    pub fn unavailable(&self, tool_id: &str) -> Option<PathError> {
        let owner = tool_id.strip_prefix("mcp:")?;
        self.files
            .servers()
            .iter()
            .find(|server| {
                owner
                    .strip_prefix(server.info.name.as_str())
                    .is_some_and(|rest| rest.starts_with(':'))
            })
            .and_then(Server::unavailable)
    }

    /// The answer of `$api`: the root, one server, or the tools of one server that `selector` names.
    #[must_use]
    pub fn api(&self, selector: ApiSelector<'_>) -> Value {
        let Some(identifier) = selector.server else {
            return api::root(&self.files);
        };
        let by_name = || {
            self.files
                .servers()
                .iter()
                .find(|server| server.info.name == identifier)
        };
        match self.server(identifier).or_else(by_name) {
            Some(server) => api::server(&self.files, server, selector.tool, selector.schema),
            None => api::no_server(identifier, &self.likely_servers(identifier)),
        }
    }

    /// What `MCP.$search` answers: the best tools, best first, with the path to call.
    #[must_use]
    pub fn search(&self, catalog: &Catalog, query: &str, limit: usize) -> Vec<Value> {
        catalog
            .search(query, limit, Reach::Mcp)
            .into_iter()
            .filter_map(|tool| {
                let path = self.path_of(tool.id().as_str())?;
                let Owner::Mcp(server) = &tool.spec().owner else {
                    return None;
                };
                Some(json!({
                    "path": path,
                    "server": server,
                    "tool": tool.spec().name,
                    "description": comment(&tool.spec().description, MAX_HIT_CHARS),
                    "input": tool.input_hint(),
                }))
            })
            .collect()
    }

    /// Where a tool is called: `MCP.github.createIssue`.
    #[must_use]
    pub fn path_of(&self, tool_id: &str) -> Option<String> {
        let (server, method) = self.by_tool.get(tool_id)?;
        let server = self.files.servers().get(*server)?;
        Some(format!(
            "MCP.{}.{}",
            server.identifier,
            server.methods.get(*method)?.name
        ))
    }

    /// The virtual files that `API` shows.
    #[must_use]
    pub fn files(&self) -> &ApiFiles {
        &self.files
    }

    fn server(&self, identifier: &str) -> Option<&Server> {
        self.by_identifier
            .get(identifier)
            .and_then(|at| self.files.servers().get(*at))
    }

    /// Servers whose letters agree, then as many others as an error has room for.
    fn likely_servers(&self, asked: &str) -> Vec<String> {
        let asked = letters(asked);
        let mut servers: Vec<&Server> = self.files.servers().iter().collect();
        servers.sort_by_key(|server| {
            let (identifier, name) = (letters(&server.identifier), letters(&server.info.name));
            if identifier == asked || name == asked {
                0
            } else {
                1 + usize::from(!identifier.contains(&asked) && !asked.contains(&identifier))
            }
        });
        servers
            .into_iter()
            .take(MAX_LISTED)
            .map(|server| server.identifier.clone())
            .collect()
    }

    /// Paths of tools named like `asked`, those of the same server first.
    fn nearest(&self, server: &Server, asked: &str) -> Vec<String> {
        let catalog = self.files.catalog();
        // The tool's own name under the right server is the commonest slip, and leaves no doubt.
        let own_name = ToolId::new(&Owner::Mcp(server.info.name.clone()), asked);
        if let Some(path) = self.path_of(own_name.as_str()) {
            return vec![path];
        }
        let ids = match catalog.lookup(asked, Reach::Mcp) {
            Ok(tool) => vec![tool.id().clone()],
            Err(LookupError::Unknown { nearest, .. }) => nearest,
            Err(LookupError::Ambiguous { candidates, .. }) => candidates,
            Err(_) => Vec::new(),
        };
        let own: HashSet<&str> = server.methods.iter().map(|method| method.id.as_str()).collect();
        let (here, elsewhere): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| own.contains(id.as_str()));
        here.into_iter()
            .chain(elsewhere)
            .filter_map(|id| self.path_of(id.as_str()))
            .collect()
    }
}

fn letters(name: &str) -> String {
    name.chars()
        .filter(|ch| ch.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .take(MAX_SHOWN_CHARS)
        .collect()
}
