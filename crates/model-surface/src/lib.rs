//! Decides what a model sees when code mode is on: `exec`, `wait`, and the few tools that cannot hide.
//!
//! It builds descriptors and text, checks the body of a request last, and sends nothing. No text written by an MCP server or a client gets into it.
//!
//! ```
//! use codecell_catalog::{Catalog, Owner, ToolSpec};
//! use codecell_model_surface::{ExecPrompt, Languages, exec_descriptor};
//! use serde_json::json;
//!
//! let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
//! let catalog = Catalog::build(vec![ToolSpec::new(Owner::Core, "read", "Read a file", schema)]);
//! let exec = exec_descriptor(&ExecPrompt {
//!     catalog: &catalog,
//!     languages: Languages::JavaScriptOnly,
//!     mcp_servers: &["github"],
//!     namespaces: &[],
//! });
//!
//! assert!(exec.description.starts_with(
//!     "Run a JavaScript program that finds and calls tools: the MCP servers `github`; 1 built-in tool.\n",
//! ));
//! assert!(exec.description.contains("- \"openclaw:core:read\" { path: string } -> ?\n"));
//! ```

mod activation;
mod descriptor;
mod guard;
mod index;
mod prompt;

pub use crate::{
    activation::{Activation, CodeMode, ToolUse, activate},
    descriptor::{EXEC, ToolDescriptor, WAIT, exec_descriptor, wait_descriptor},
    guard::{ApprovedTools, GuardReport, GuardViolation, Reason, Stripped, WireShape, guard_payload},
    index::{MAX_INDEX_UNITS, quick_index},
    prompt::{ExecPrompt, Languages, NamespacePrompt},
};
