//! From a path in guest code to what it means.

use codecell_catalog::ToolId;

/// What a path under `MCP` calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A tool, by its exact catalog id.
    Tool(ToolId),
    /// `resources.list` of the server with this configured name.
    ResourcesList {
        /// Name in the configuration.
        server: String,
    },
    /// `resources.read`.
    ResourcesRead {
        /// Name in the configuration.
        server: String,
    },
    /// `prompts.list`.
    PromptsList {
        /// Name in the configuration.
        server: String,
    },
    /// `prompts.get`.
    PromptsGet {
        /// Name in the configuration.
        server: String,
    },
}

/// Why a path calls nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// No server has this identifier: the caller takes one that exists.
    #[error("unknown MCP server `MCP.{asked}`; {}", known("servers", servers))]
    UnknownServer {
        /// What was asked for, shortened.
        asked: String,
        /// Servers there are, the likely ones first.
        servers: Vec<String>,
    },
    /// The server has no such tool: the caller takes the nearest, or searches.
    #[error(
        "unknown MCP tool `MCP.{path}`{}; `MCP.$search(query)` finds tools",
        did_you_mean(nearest)
    )]
    UnknownMethod {
        /// What was asked for, shortened.
        path: String,
        /// Paths that look alike, best first.
        nearest: Vec<String>,
    },
    /// The server is not there and never was: the caller tries again later, or its user repairs the configuration.
    #[error("MCP server `{server}` is not available: {state}")]
    Unavailable {
        /// Name in the configuration.
        server: String,
        /// What is known of the reason, shortened.
        state: String,
    },
    /// The server does not serve resources or prompts.
    #[error("MCP server `{server}` serves no {what}")]
    NotServed {
        /// Name in the configuration.
        server: String,
        /// `resources` or `prompts`.
        what: &'static str,
    },
    /// The path ends at an object or goes on behind a function.
    #[error("`MCP.{path}` is not callable; call MCP.<server>.<tool>({{ ... }})")]
    NotCallable {
        /// What was asked for, shortened.
        path: String,
    },
}

fn known(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        format!("there are no {what}")
    } else {
        format!("{what}: {}", names.join(", "))
    }
}

fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return String::new();
    }
    let nearest: Vec<String> = nearest.iter().map(|path| format!("`{path}`")).collect();
    format!("; did you mean {}?", nearest.join(", "))
}
