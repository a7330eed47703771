//! `$api`: the declarations of a server or a tool, as a value.

use codecell_mcp_decls::tool_header;
use serde_json::{Map, Value, json};

use crate::{
    files::ApiFiles,
    server::{Method, Server, tool_meta},
};

/// What `$api` was asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApiSelector<'a> {
    /// The server's identifier; absent at the root.
    pub server: Option<&'a str>,
    /// A method, a path or the tool's own name; absent for all.
    pub tool: Option<&'a str>,
    /// Whether the raw schemas are wanted.
    pub schema: bool,
}

const KIND: &str = "mcp_api";

pub(crate) fn root(files: &ApiFiles) -> Value {
    let servers: Vec<_> = files.servers().iter().map(Server::as_ref).collect();
    json!({
        "kind": KIND,
        "scope": "root",
        "header": files.index(),
        "servers": servers,
        "note": "MCP.<identifier>.$api() declares a server, MCP.$search(query) finds tools.",
    })
}

pub(crate) fn no_server(asked: &str, servers: &[String]) -> Value {
    json!({
        "kind": KIND,
        "scope": "root",
        "header": "",
        "servers": [],
        "note": format!("no server `{asked}`; servers: {}", servers.join(", ")),
    })
}

pub(crate) fn server(files: &ApiFiles, server: &Server, tool: Option<&str>, schema: bool) -> Value {
    let catalog = files.catalog();
    let operations = operations(server);
    let selected = |method: &str, own: &str| tool.is_none_or(|asked| names(server, method, own, asked));
    let mut entries = Vec::new();
    let mut schemas = Map::new();
    let mut single: Vec<&Method> = Vec::new();
    for method in &server.methods {
        let Some(tool) = catalog.get(method.id.as_str()) else {
            continue;
        };
        let spec = tool.spec();
        if !selected(&method.name, &spec.name) {
            continue;
        }
        entries.push(entry(server, &method.name, &spec.name, "tool", &spec.description));
        single.push(method);
        if schema {
            let mut both = Map::new();
            both.insert("inputSchema".to_owned(), spec.parameters.clone());
            if let Some(output) = &spec.output_schema {
                both.insert("outputSchema".to_owned(), output.clone());
            }
            schemas.insert(method.name.clone(), both.into());
        }
    }
    for (operation, description) in operations {
        let protocol = operation.replace('.', "/");
        if selected(operation, &protocol) {
            entries.push(entry(server, operation, &protocol, operation, description));
        }
    }

    let one = tool.is_some() && entries.len() == 1;
    let header = match (tool, single.as_slice()) {
        (Some(_), [method]) if one => catalog
            .get(method.id.as_str())
            .map(|tool| tool_header(&server.meta(catalog), &tool_meta(&method.name, tool)))
            .unwrap_or_default(),
        (Some(_), []) if entries.is_empty() => String::new(),
        _ => server.declarations(catalog).to_owned(),
    };
    let mut answer = json!({
        "kind": KIND,
        "scope": if one { "tool" } else { "server" },
        "server": { "identifier": server.identifier, "serverName": server.info.name },
        "header": header,
        "tools": entries,
    });
    if let Some(answer) = answer.as_object_mut() {
        if schema {
            answer.insert("schemas".to_owned(), schemas.into());
        }
        answer.insert("note".to_owned(), note(server, tool, entries_len(answer)).into());
    }
    answer
}

fn entries_len(answer: &Map<String, Value>) -> usize {
    answer.get("tools").and_then(Value::as_array).map_or(0, Vec::len)
}

fn note(server: &Server, tool: Option<&str>, found: usize) -> String {
    let call = match tool {
        Some(_) if found == 0 => {
            format!(
                "No tool of that name; MCP.{}.$api() lists all, MCP.$search(query) finds tools.",
                server.identifier
            )
        }
        _ => "Call a method with one object argument.".to_owned(),
    };
    if server.remark().is_empty() {
        call
    } else {
        format!("{call} Server state: {}.", server.remark())
    }
}

fn entry(server: &Server, method: &str, own: &str, operation: &str, description: &str) -> Value {
    json!({
        "method": method,
        "path": format!("MCP.{}.{method}", server.identifier),
        "mcpTool": own,
        "operation": operation,
        "description": description,
    })
}

/// Whether `asked` means this method: by name, by path with or without `MCP`, or by the tool's own name.
fn names(server: &Server, method: &str, own: &str, asked: &str) -> bool {
    if asked == method || asked == own {
        return true;
    }
    let path = asked.strip_prefix("MCP.").unwrap_or(asked);
    path.strip_prefix(server.identifier.as_str())
        .and_then(|rest| rest.strip_prefix('.'))
        == Some(method)
}

fn operations(server: &Server) -> Vec<(&'static str, &'static str)> {
    let mut operations = Vec::new();
    if server.info.resources {
        operations.push(("resources.list", "Lists the server's resources."));
        operations.push(("resources.read", "Reads one resource by its uri."));
    }
    if server.info.prompts {
        operations.push(("prompts.list", "Lists the server's prompts."));
        operations.push(("prompts.get", "Gets one prompt by its name."));
    }
    operations
}
