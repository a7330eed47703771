//! Recorded servers, as the renderers want them.

use std::{collections::HashSet, fs, io, path::Path};

use codecell_catalog::schema::is_reserved_word;
use codecell_mcp_decls::{ServerMeta, ServerSummary, ToolMeta};
use serde_json::Value;

/// A recorded server, and the names its declarations go by.
pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) identifier: String,
    methods: Vec<String>,
    dump: Value,
}

/// Every `folder/*.json` that has a `tools` array, sorted by name.
pub(crate) fn servers(folder: &Path) -> io::Result<Vec<Recorded>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();

    let mut taken = HashSet::new();
    let mut servers = Vec::new();
    for path in paths {
        let dump: Value = serde_json::from_slice(&fs::read(&path)?)?;
        if !dump.get("tools").is_some_and(Value::is_array) {
            continue;
        }
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut methods = HashSet::new();
        servers.push(Recorded {
            identifier: identifier(&name, &mut taken),
            methods: tools(&dump)
                .iter()
                .map(|tool| identifier(text(tool, "name"), &mut methods))
                .collect(),
            name,
            dump,
        });
    }
    Ok(servers)
}

impl Recorded {
    /// What the server said of its tools.
    pub(crate) fn tools(&self) -> &[Value] {
        tools(&self.dump)
    }

    pub(crate) fn meta(&self) -> ServerMeta<'_> {
        ServerMeta {
            tools: self
                .tools()
                .iter()
                .zip(&self.methods)
                .map(|(tool, method)| ToolMeta {
                    title: tool.get("title").and_then(Value::as_str),
                    output_schema: tool.get("outputSchema"),
                    annotations: tool.get("annotations"),
                    ..ToolMeta::new(
                        method,
                        text(tool, "name"),
                        text(tool, "description"),
                        tool.get("inputSchema").unwrap_or(&Value::Null),
                    )
                })
                .collect(),
            resources: self.serves("resources"),
            prompts: self.serves("prompts"),
            instructions: self
                .dump
                .pointer("/initialize/instructions")
                .and_then(Value::as_str),
            ..ServerMeta::new(&self.identifier, &self.name)
        }
    }

    pub(crate) fn summary(&self) -> ServerSummary<'_> {
        ServerSummary {
            identifier: &self.identifier,
            server_name: &self.name,
            tools: self.methods.len(),
            resources: self.serves("resources"),
            prompts: self.serves("prompts"),
            state: "",
        }
    }

    fn serves(&self, what: &str) -> bool {
        self.dump
            .pointer("/initialize/capabilities")
            .and_then(|able| able.get(what))
            .is_some()
    }
}

fn tools(dump: &Value) -> &[Value] {
    dump.get("tools")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn text<'a>(tool: &'a Value, key: &str) -> &'a str {
    tool.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A unique identifier near `name`. The product assigns names in `codecell-namespaces`; any will do here.
fn identifier(name: &str, taken: &mut HashSet<String>) -> String {
    let base: String = name
        .chars()
        .map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '_' })
        .collect();
    let base = if base.starts_with(|ch: char| ch.is_ascii_digit()) || base.is_empty() {
        format!("_{base}")
    } else {
        base
    };
    let mut identifier = base.clone();
    let mut number = 2_usize;
    while is_reserved_word(&identifier) || identifier == "index" || !taken.insert(identifier.clone()) {
        identifier = format!("{base}{number}");
        number += 1;
    }
    identifier
}
