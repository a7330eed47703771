//! Tools that the model sees itself, beside exec and wait or instead of them.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use codecell::{Owner, Tool, ToolId, ToolSpec};
use serde_json::{Map, Value};

use super::view::{VisibleKind, VisibleTool};
use crate::upstream::{Snapshot, ToolDump};

/// Longest tool name that every host takes.
const MAX_NAME_CHARS: usize = 64;

/// The visible names of direct tools. A name that was given stays with its tool as long as the process
/// lives: a server that connects late must not take over what the model knows as another server's tool.
#[derive(Clone)]
pub(super) struct DirectNames {
    given: BTreeMap<ToolId, String>,
    taken: BTreeSet<String>,
}

impl DirectNames {
    /// No names yet, and none of `reserved` ever.
    pub(super) fn new(reserved: &[&str]) -> Self {
        Self {
            given: BTreeMap::new(),
            taken: reserved.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// A tool keeps its own name unless that is taken; then its owner's name goes before it, and after that a
    /// number.
    fn of(&mut self, spec: &ToolSpec) -> String {
        let id = ToolId::new(&spec.owner, &spec.name);
        if let Some(name) = self.given.get(&id) {
            return name.clone();
        }
        let name = free_name(spec.owner.name().unwrap_or("core"), &spec.name, &self.taken);
        self.taken.insert(name.clone());
        self.given.insert(id, name.clone());
        name
    }

    /// These tools as the model is told of them, in their order. What a server wrote stays as it wrote it.
    pub(super) fn list<'t>(
        &mut self,
        specs: impl Iterator<Item = &'t ToolSpec>,
        snapshot: &Snapshot,
    ) -> Vec<VisibleTool> {
        let servers = snapshot.servers.iter();
        let dumps: HashMap<(&str, &str), &ToolDump> = servers
            .flat_map(|server| server.tools.iter().map(move |tool| (server, tool)))
            .map(|(server, tool)| ((&*server.name, &*tool.name), &**tool))
            .collect();
        specs
            .map(|spec| {
                let name = self.of(spec);
                let listing = match &spec.owner {
                    Owner::Mcp(server) => dumps
                        .get(&(server.as_str(), spec.name.as_str()))
                        .map(|tool| upstream_listing(tool, &name)),
                    _ => None,
                };
                VisibleTool {
                    listing: listing.unwrap_or_else(|| own_listing(spec, &name)),
                    name,
                    kind: VisibleKind::Direct(Arc::new(Tool::alone(spec.clone()))),
                }
            })
            .collect()
    }
}

fn upstream_listing(tool: &ToolDump, name: &str) -> Value {
    let mut listing = tool.raw.clone();
    if let Some(fields) = listing.as_object_mut() {
        fields.insert("name".into(), name.into());
        // What servers leave out or get wrong, and hosts insist on.
        fields.insert("inputSchema".into(), tool.input_schema.clone());
    }
    listing
}

/// A tool of this process. Its output contract is for cells and is not listed.
pub(super) fn own_listing(spec: &ToolSpec, name: &str) -> Value {
    let mut fields = Map::new();
    fields.insert("name".into(), name.into());
    if let Some(label) = &spec.label {
        fields.insert("title".into(), label.as_str().into());
    }
    fields.insert("description".into(), spec.description.as_str().into());
    fields.insert("inputSchema".into(), spec.parameters.clone());
    if let Some(annotations) = &spec.annotations {
        fields.insert("annotations".into(), annotations.clone());
    }
    Value::Object(fields)
}

fn free_name(server: &str, tool: &str, taken: &BTreeSet<String>) -> String {
    let plain = safe(tool);
    let prefixed = safe(&format!("{server}_{tool}"));
    let numbered = (2..).map(|number: u32| {
        let suffix = format!("_{number}");
        let head: String = prefixed
            .chars()
            .take(MAX_NAME_CHARS.saturating_sub(suffix.len()))
            .collect();
        head + &suffix
    });
    [plain, prefixed.clone()]
        .into_iter()
        .chain(numbered)
        .find(|name| !name.is_empty() && !taken.contains(name))
        .unwrap_or(prefixed)
}

/// The characters that tool names may have everywhere; others become `_`.
fn safe(name: &str) -> String {
    name.chars()
        .take(MAX_NAME_CHARS)
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') {
                c
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use codecell::{Owner, ToolSpec};

    use super::DirectNames;

    fn tool(server: &str, name: &str) -> ToolSpec {
        ToolSpec::new(Owner::Mcp(server.into()), name, "", serde_json::json!({}))
    }

    #[test]
    fn a_name_is_kept_unless_it_is_taken() {
        let mut names = DirectNames::new(&["exec", "wait"]);
        for (server, name, given) in [
            ("a", "photo", "photo"),
            ("a", "exec", "a_exec"),
            ("b", "photo", "b_photo"),
            ("b", "b_photo", "b_b_photo"),
            ("b_b", "photo", "b_b_photo_2"),
            ("my server", "wait", "my_server_wait"),
            ("a", "ü/x", "__x"),
        ] {
            assert_eq!(names.of(&tool(server, name)), given, "{server} {name}");
        }
        assert_eq!(
            names.of(&tool("b", "photo")),
            "b_photo",
            "a name that was given stays"
        );
        let own = ToolSpec::new(Owner::Core, "exec", "", serde_json::json!({}));
        assert_eq!(names.of(&own), "core_exec");
    }

    #[test]
    fn long_names_stay_distinct_and_short() {
        let mut names = DirectNames::new(&[]);
        let given: std::collections::BTreeSet<String> = (0..20)
            .map(|number| names.of(&tool(&format!("server {number}"), &"x".repeat(200))))
            .collect();
        assert_eq!(given.len(), 20);
        assert!(given.iter().all(|name| name.len() <= 64));
    }
}
