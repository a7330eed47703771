//! Identifiers for servers and tools.

use std::collections::HashSet;

use codecell_catalog::schema::is_reserved_word;

use crate::plugin::is_reserved;

/// Longest identifier; longer ones are told apart by number.
const MAX_CHARS: usize = 128;

/// Members that the language itself calls or every object inherits: a tool under such a name would run when a
/// program awaits, prints or compares its server.
const INHERITED: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "prototype",
    "then",
    "toJSON",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// What else is taken, and what stands in when a name has no letter.
pub(crate) struct Scope {
    taken: &'static [&'static str],
    nameless: &'static str,
}

/// Names under `MCP`. `index` is the file beside the servers' files.
pub(crate) const SERVERS: Scope = Scope {
    taken: &["index"],
    nameless: "server",
};
/// Names under one server.
pub(crate) const TOOLS: Scope = Scope {
    taken: &["prompts", "resources"],
    nameless: "tool",
};

impl Scope {
    fn reserves(&self, name: &str) -> bool {
        self.taken.contains(&name)
            // A program that destructures a namespace would hide what it has under such a name.
            || is_reserved(name)
            || name == "console"
            || INHERITED.contains(&name)
            || is_reserved_word(name)
    }

    /// One identifier per name, in order; the first of several that fall together keeps it, the others are
    /// numbered from 2. What comes later in the list never changes what came earlier.
    pub(crate) fn assign_in_order<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let mut used = HashSet::new();
        names.into_iter().map(|name| self.next(name, &mut used)).collect()
    }

    /// As [`assign_in_order`](Self::assign_in_order), but a name that is its own identifier keeps it whatever
    /// stands before: `getUser` stays `getUser` beside `get_user`.
    pub(crate) fn assign_exact_first(&self, names: &[&str]) -> Vec<String> {
        let is_exact = |name: &str| identifier(name, self.nameless) == name && !self.reserves(name);
        let mut used: HashSet<String> = names
            .iter()
            .filter(|name| is_exact(name))
            .map(|name| (*name).to_owned())
            .collect();
        names
            .iter()
            .map(|name| {
                if is_exact(name) {
                    (*name).to_owned()
                } else {
                    self.next(name, &mut used)
                }
            })
            .collect()
    }

    fn next(&self, name: &str, used: &mut HashSet<String>) -> String {
        let base = identifier(name, self.nameless);
        let mut candidate = base.clone();
        let mut number = 2_usize;
        while self.reserves(&candidate) || used.contains(&candidate) {
            candidate = format!("{base}{number}");
            number += 1;
        }
        used.insert(candidate.clone());
        candidate
    }
}

/// Camel case of the ASCII words in `name`: `create_issue` is `createIssue`, `2fa` is `fa`.
fn identifier(name: &str, nameless: &str) -> String {
    let mut out = String::new();
    for word in name.split(|ch: char| !ch.is_ascii_alphanumeric()) {
        let word = if out.is_empty() {
            word.trim_start_matches(|ch: char| ch.is_ascii_digit())
        } else {
            word
        };
        let mut chars = word.chars();
        if let Some(first) = chars.next() {
            out.push(if out.is_empty() {
                first.to_ascii_lowercase()
            } else {
                first.to_ascii_uppercase()
            });
            out.push_str(chars.as_str());
        }
    }
    out.truncate(MAX_CHARS);
    if out.is_empty() { nameless.to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_camel_case() {
        for (name, expected) in [
            ("create_issue", "createIssue"),
            ("GitHub Server", "gitHubServer"),
            ("chrome-devtools", "chromeDevtools"),
            ("CamelCaseURL", "camelCaseURL"),
            ("GET_USER", "gETUSER"),
            ("bitable.v1.appTable", "bitableV1AppTable"),
            ("2fa", "fa"),
            ("9-lives", "lives"),
            ("__proto__", "proto"),
            ("日本", "tool"),
            ("-", "tool"),
            ("", "tool"),
        ] {
            assert_eq!(identifier(name, "tool"), expected, "{name}");
        }
        assert_eq!(identifier(&"x".repeat(500), "tool").len(), MAX_CHARS);
    }

    #[test]
    fn words_the_language_owns_are_numbered() {
        let names = [
            "delete",
            "then",
            "toJSON",
            "constructor",
            "resources",
            "$api",
            "text",
            "index",
            "eval",
        ];
        assert_eq!(
            TOOLS.assign_exact_first(&names),
            [
                "delete2",
                "then2",
                "toJSON2",
                "constructor2",
                "resources2",
                "api",
                "text2",
                "index",
                "eval2"
            ]
        );
        assert_eq!(
            SERVERS.assign_in_order(["index", "resources"]),
            ["index2", "resources"]
        );
    }

    #[test]
    fn a_tool_that_is_spelled_like_its_identifier_keeps_it() {
        let names = ["get-user", "getUser", "get_user", "getUser2", "getuser"];
        assert_eq!(
            TOOLS.assign_exact_first(&names),
            ["getUser3", "getUser", "getUser4", "getUser2", "getuser"]
        );
    }

    #[test]
    fn another_server_renames_none_before_it() {
        let alone = SERVERS.assign_in_order(["my_server"]);
        let both = SERVERS.assign_in_order(["my_server", "my-server", "myServer"]);
        assert_eq!(alone, ["myServer"]);
        assert_eq!(both, ["myServer", "myServer2", "myServer3"]);
    }
}
