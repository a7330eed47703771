//! Tools that the model sees although they belong to an upstream server.
use std::collections::{BTreeMap, BTreeSet};

use super::app::{VisibleKind, VisibleTool};
use crate::upstream::{Snapshot, ToolDump};

/// Longest tool name that every host takes.
const MAX_NAME_CHARS: usize = 64;

/// A tool of an upstream server, under the name the model knows it by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DirectTool {
    pub(crate) server: String,
    pub(crate) tool: String,
    /// Whether the server says that it only reads.
    pub(crate) read_only: bool,
}

/// The visible names of direct-only tools. A name that was given stays with its tool as long as the process
/// lives: a server that connects late must not take over what the model knows as another server's tool.
pub(super) struct DirectNames {
    given: BTreeMap<(String, String), String>,
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

    /// A tool keeps its own name unless that is taken; then the server's name goes before it, and after that a
    /// number.
    fn of(&mut self, server: &str, tool: &str) -> String {
        let key = (server.to_owned(), tool.to_owned());
        if let Some(name) = self.given.get(&key) {
            return name.clone();
        }
        let name = free_name(server, tool, &self.taken);
        self.taken.insert(name.clone());
        self.given.insert(key, name.clone());
        name
    }

    /// The tools that `wanted` picks, in the order of the configuration and of their servers' lists.
    pub(super) fn list(
        &mut self,
        snapshot: &Snapshot,
        wanted: impl Fn(&ToolDump) -> bool,
    ) -> Vec<VisibleTool> {
        let servers = snapshot.servers.iter();
        let tools = servers.flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
        tools
            .filter(|(_, tool)| wanted(tool))
            .map(|(server, tool)| self.visible(&server.name, tool))
            .collect()
    }

    fn visible(&mut self, server: &str, tool: &ToolDump) -> VisibleTool {
        let name = self.of(server, &tool.name);
        let mut listing = tool.raw.clone();
        if let Some(fields) = listing.as_object_mut() {
            fields.insert("name".into(), name.clone().into());
            // What servers leave out or get wrong, and hosts insist on.
            fields.insert("inputSchema".into(), tool.input_schema.clone());
        }
        let target = DirectTool {
            server: server.to_owned(),
            tool: tool.name.clone(),
            read_only: tool.says_read_only(),
        };
        VisibleTool {
            name,
            listing,
            kind: VisibleKind::Direct(target),
        }
    }
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
    use super::DirectNames;

    #[test]
    fn a_name_is_kept_unless_it_is_taken() {
        let mut names = DirectNames::new(&["exec", "wait"]);
        for (server, tool, name) in [
            ("a", "photo", "photo"),
            ("a", "exec", "a_exec"),
            ("b", "photo", "b_photo"),
            ("b", "b_photo", "b_b_photo"),
            ("b_b", "photo", "b_b_photo_2"),
            ("my server", "wait", "my_server_wait"),
            ("a", "ü/x", "__x"),
        ] {
            assert_eq!(names.of(server, tool), name, "{server} {tool}");
        }
        assert_eq!(names.of("b", "photo"), "b_photo", "a name that was given stays");
    }

    #[test]
    fn long_names_stay_distinct_and_short() {
        let mut names = DirectNames::new(&[]);
        let given: std::collections::BTreeSet<String> = (0..20)
            .map(|number| names.of(&format!("server {number}"), &"x".repeat(200)))
            .collect();
        assert_eq!(given.len(), 20);
        assert!(given.iter().all(|name| name.len() <= 64));
    }
}
