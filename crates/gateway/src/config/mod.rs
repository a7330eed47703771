//! Reads the files people already have and says what is wrong with them.
//!
//! Reading never fails as a whole: every mistake becomes a [`Problem`] that names its file and path and costs
//! no more than the entry it stands in. Nothing here starts a server or touches the network.
//!
//! ```
//! use codecell_gateway::config::{Document, Shape, Switch, load_documents};
//!
//! let text = r#"{ tools: { codeMode: { timeoutMs: 5 } }, mcp: { servers: { time: { command: "mcp-time" } } } }"#;
//! let documents = [Document { file: "codecell.json5".into(), shape: Shape::Own, text: text.into() }];
//! let loaded = load_documents(&documents, &|_| None);
//!
//! assert_eq!(loaded.config.code_mode.timeout_ms, 100, "numbers are clamped to their range");
//! assert_eq!(loaded.config.code_mode.enabled, Switch::Unset);
//! assert_eq!(loaded.config.servers[0].name, "time");
//! assert_eq!(loaded.problems[0].message, "5 is outside 100 to 60000, so 100 is used");
//! ```
mod agents;
mod base_url;
mod block;
mod code_mode;
mod entry;
mod env_file;
mod expand;
mod glob;
mod load;
mod models;
mod overrides;
mod plugins;
mod problem;
mod providers;
mod secret;
mod serve;
mod server;
mod text;
mod tools;
mod turn;

pub use self::{
    agents::{AgentSettings, Agents, DEFAULT_AGENT, SandboxMode, UnknownAgent},
    code_mode::{CodeModeSettings, Languages, Switch},
    glob::Globs,
    load::{Config, Document, Loaded, Shape, Source, load, load_documents},
    models::{ModelEntry, ModelRef, ModelRefError, Models, ProviderSettings},
    overrides::ModelOverrides,
    plugins::PluginEntry,
    problem::{Problem, Severity},
    secret::Secret,
    serve::ServeSettings,
    server::{DirectOnly, Elicitation, ServerConfig, Transport},
    tools::{ExecSettings, Root, ToolSettings, WebFetchSettings},
    turn::TurnSettings,
};

#[cfg(test)]
mod tests;
