//! Who may depend on whom: the drawing in `ARCHITECTURE.md` as a table.

use serde_json::Value;

use super::Finding;

/// A crate and those of our crates that it may build on.
struct Layer {
    name: &'static str,
    may_use: &'static [&'static str],
}

const LAYERS: &[Layer] = &[
    Layer {
        name: "codecell-catalog",
        may_use: &[],
    },
    Layer {
        name: "codecell-snapshot-store",
        may_use: &[],
    },
    Layer {
        name: "codecell-bridge",
        may_use: &[],
    },
    Layer {
        name: "codecell-ts-transform",
        may_use: &[],
    },
    Layer {
        name: "codecell-mcp-decls",
        may_use: &["codecell-catalog"],
    },
    Layer {
        name: "codecell-model-surface",
        may_use: &["codecell-catalog"],
    },
    Layer {
        name: "codecell-namespaces",
        may_use: &["codecell-catalog", "codecell-mcp-decls"],
    },
    Layer {
        name: "codecell-tools",
        may_use: &["codecell-bridge", "codecell-catalog"],
    },
    Layer {
        name: "codecell-core-tools",
        may_use: &["codecell-tools"],
    },
    Layer {
        name: "codecell-plugins",
        may_use: &["codecell-catalog", "codecell-namespaces", "codecell-tools"],
    },
    Layer {
        name: "codecell-trajectory",
        may_use: &[],
    },
    Layer {
        name: "codecell-llm",
        may_use: &["codecell-trajectory"],
    },
    Layer {
        name: "codecell-sessions",
        may_use: &["codecell-trajectory"],
    },
    // Takes the tools as a trait: it must know neither catalog nor cell.
    Layer {
        name: "codecell-agent",
        may_use: &["codecell-llm"],
    },
    Layer {
        name: "codecell-guest-runtime",
        may_use: &["codecell-bridge"],
    },
    Layer {
        name: "codecell",
        may_use: &[
            "codecell-bridge",
            "codecell-catalog",
            "codecell-guest-runtime",
            "codecell-mcp-decls",
            "codecell-model-surface",
            "codecell-namespaces",
            "codecell-snapshot-store",
            "codecell-tools",
            "codecell-ts-transform",
        ],
    },
    Layer {
        name: "codecell-gateway",
        may_use: &[
            "codecell",
            "codecell-agent",
            "codecell-core-tools",
            "codecell-llm",
            "codecell-plugins",
            "codecell-sessions",
            "codecell-trajectory",
        ],
    },
    // A program of somebody else's: a plugin, and the gateway with it linked in.
    Layer {
        name: "codecell-shipping-plugin",
        may_use: &["codecell-gateway", "codecell-plugins"],
    },
    // Drives the product as a process: it knows no crate of it.
    Layer {
        name: "xtask",
        may_use: &[],
    },
    Layer {
        name: "codecell-guest",
        may_use: &[],
    },
];

/// A dependency that only some crates may name; a trailing `*` matches a family of crates.
struct Reserved {
    dependency: &'static str,
    only_in: &'static [&'static str],
    /// Whether tests of other crates may use it.
    tests_anywhere: bool,
}

const RESERVED: &[Reserved] = &[
    Reserved {
        dependency: "rmcp",
        only_in: &["codecell-gateway"],
        tests_anywhere: false,
    },
    Reserved {
        dependency: "reqwest",
        only_in: &["codecell-core-tools", "codecell-gateway", "codecell-llm"],
        tests_anywhere: false,
    },
    Reserved {
        dependency: "axum",
        only_in: &["codecell-gateway"],
        tests_anywhere: false,
    },
    Reserved {
        dependency: "wasmtime",
        only_in: &["codecell-guest-runtime"],
        tests_anywhere: false,
    },
    Reserved {
        dependency: "wasmtime-wizer",
        only_in: &["codecell-guest-runtime"],
        tests_anywhere: false,
    },
    Reserved {
        dependency: "rquickjs*",
        only_in: &["codecell-guest"],
        tests_anywhere: false,
    },
    Reserved {
        dependency: "oxc_*",
        only_in: &["codecell-ts-transform"],
        tests_anywhere: true,
    },
    Reserved {
        dependency: "clap",
        only_in: &["codecell-gateway", "xtask"],
        tests_anywhere: false,
    },
    Reserved {
        dependency: "anyhow",
        only_in: &["codecell-gateway", "xtask"],
        tests_anywhere: true,
    },
];

/// Crates whose answers depend on nothing but their arguments: no runtime may slip in.
const SYNCHRONOUS: &[&str] = &[
    "codecell-catalog",
    "codecell-mcp-decls",
    "codecell-model-surface",
    "codecell-namespaces",
    "codecell-snapshot-store",
    "codecell-trajectory",
    "codecell-ts-transform",
];

/// Checks every direct dependency that `cargo metadata --no-deps` reports.
pub(super) fn check(metadata: &Value) -> Vec<Finding> {
    let packages: &[Value] = metadata["packages"].as_array().map_or(&[], Vec::as_slice);
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Value) -> Vec<Finding> {
    let name = package["name"].as_str().unwrap_or_default();
    let finding = |message: String| Finding {
        path: format!("crate {name}"),
        line: 0,
        message,
    };
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        return vec![finding(
            "has no place in the layer table of `xtask/src/tidy/layers.rs`".into(),
        )];
    };
    let dependencies: &[Value] = package["dependencies"].as_array().map_or(&[], Vec::as_slice);
    let mut findings = Vec::new();
    for dependency in dependencies {
        let used = dependency["name"].as_str().unwrap_or_default();
        let in_tests = dependency["kind"].as_str() == Some("dev");
        if let Some(below) = LAYERS.iter().find(|layer| layer.name == used) {
            let allowed = layer.may_use.contains(&used)
                || (in_tests && !below.may_use.contains(&name) && is_library(used));
            if !allowed {
                findings.push(finding(format!("must not depend on `{used}`")));
            }
        }
        if let Some(reserved) = RESERVED
            .iter()
            .find(|reserved| matches_family(reserved.dependency, used))
            && !reserved.only_in.contains(&name)
            && !(in_tests && reserved.tests_anywhere)
        {
            findings.push(finding(format!(
                "must not depend on `{used}`, which belongs in {}",
                reserved.only_in.join(" and ")
            )));
        }
        if used.starts_with("tokio") && !in_tests && SYNCHRONOUS.contains(&name) {
            findings.push(finding(format!("must stay synchronous, without `{used}`")));
        }
    }
    findings
}

/// Whether other crates' tests may build on `name`: the doors stay at the top even there.
fn is_library(name: &str) -> bool {
    !matches!(name, "codecell-gateway" | "xtask" | "codecell-guest")
}

fn matches_family(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_edge(from: &str, to: &str, kind: Option<&str>) -> Vec<String> {
        let metadata =
            json!({ "packages": [{ "name": from, "dependencies": [{ "name": to, "kind": kind }] }] });
        check(&metadata)
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn edges_of_the_drawing_pass() {
        for (from, to, kind) in [
            ("codecell", "codecell-bridge", None),
            ("codecell-namespaces", "codecell-mcp-decls", None),
            ("codecell-model-surface", "codecell-namespaces", Some("dev")),
            ("codecell-gateway", "rmcp", None),
            ("codecell-mcp-decls", "oxc_parser", Some("dev")),
            ("codecell-snapshot-store", "tokio", Some("dev")),
            ("codecell-bridge", "tokio", None),
        ] {
            assert_eq!(check_edge(from, to, kind), Vec::<String>::new(), "{from} -> {to}");
        }
    }

    #[test]
    fn every_other_edge_is_named() {
        for (from, to, kind, expected) in [
            (
                "codecell-bridge",
                "codecell-catalog",
                None,
                "must not depend on `codecell-catalog`",
            ),
            (
                "codecell-bridge",
                "codecell-guest-runtime",
                Some("dev"),
                "must not depend on `codecell-guest-runtime`",
            ),
            (
                "codecell-agent",
                "codecell-bridge",
                None,
                "must not depend on `codecell-bridge`",
            ),
            (
                "codecell",
                "codecell-gateway",
                Some("dev"),
                "must not depend on `codecell-gateway`",
            ),
            (
                "codecell",
                "rmcp",
                None,
                "must not depend on `rmcp`, which belongs in codecell-gateway",
            ),
            (
                "codecell",
                "wasmtime",
                Some("dev"),
                "must not depend on `wasmtime`, which belongs in codecell-guest-runtime",
            ),
            (
                "codecell",
                "oxc_span",
                None,
                "must not depend on `oxc_span`, which belongs in codecell-ts-transform",
            ),
            (
                "codecell-catalog",
                "tokio-util",
                None,
                "must stay synchronous, without `tokio-util`",
            ),
            (
                "newcomer",
                "serde",
                None,
                "has no place in the layer table of `xtask/src/tidy/layers.rs`",
            ),
        ] {
            assert_eq!(check_edge(from, to, kind), [expected], "{from} -> {to}");
        }
    }
}
