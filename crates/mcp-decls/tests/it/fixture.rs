//! Recorded servers, with names good enough for a test: the product assigns its own in `codecell-namespaces`.

use std::{collections::HashSet, fs, path::Path};

use codecell_catalog::schema::is_reserved_word;
use codecell_mcp_decls::{ServerMeta, ToolMeta};
use serde_json::Value;

pub(crate) struct Fixture {
    pub(crate) name: String,
    dump: Value,
    methods: Vec<String>,
}

impl Fixture {
    pub(crate) fn read(path: &Path) -> Self {
        let dump: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let mut taken = HashSet::new();
        let methods = tools(&dump)
            .iter()
            .map(|tool| method(text(tool, "name"), &mut taken))
            .collect();
        Self {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            dump,
            methods,
        }
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::read(&folder().join(format!("{name}.json")))
    }

    pub(crate) fn all() -> Vec<Self> {
        let mut paths: Vec<_> = fs::read_dir(folder())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    pub(crate) fn meta(&self) -> ServerMeta<'_> {
        let serves = |what: &str| {
            self.dump
                .pointer("/initialize/capabilities")
                .unwrap()
                .get(what)
                .is_some()
        };
        let tools = tools(&self.dump)
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
            });
        ServerMeta {
            tools: tools.collect(),
            resources: serves("resources"),
            prompts: serves("prompts"),
            instructions: self
                .dump
                .pointer("/initialize/instructions")
                .and_then(Value::as_str),
            ..ServerMeta::new("server", &self.name)
        }
    }

    /// The tool list as it would stand in a prompt.
    pub(crate) fn listed_bytes(&self) -> usize {
        let keys = ["name", "description", "inputSchema", "outputSchema"];
        tools(&self.dump)
            .iter()
            .flat_map(|tool| keys.iter().filter_map(|key| tool.get(*key)))
            .map(|value| value.to_string().len())
            .sum()
    }
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/mcp"))
}

fn tools(dump: &Value) -> &[Value] {
    dump.get("tools").and_then(Value::as_array).unwrap()
}

fn text<'a>(tool: &'a Value, key: &str) -> &'a str {
    tool.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn method(name: &str, taken: &mut HashSet<String>) -> String {
    let base: String = name
        .chars()
        .map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '_' })
        .collect();
    let base = if base.starts_with(|ch: char| ch.is_ascii_digit()) {
        format!("_{base}")
    } else {
        base
    };
    let mut method = base.clone();
    while is_reserved_word(&method) || !taken.insert(method.clone()) {
        method.push('_');
    }
    method
}
