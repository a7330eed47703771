//! Plugins: tools, namespaces and hooks that come and go as one.
//!
//! A plugin is code of this process that somebody chose to link; it is trusted, but not to be free of defects. What it
//! registers becomes visible when all of it is right, and not before. This crate calls no tool and asks no hook, and
//! knows nothing of cells.
//!
//! ```
//! use std::sync::Arc;
//!
//! use codecell_plugins::{
//!     NamespaceTool, Origin, Plugin, PluginApi, PluginError, PluginHost, Registration, Scope, define_tool,
//! };
//! use serde_json::json;
//!
//! #[derive(serde::Deserialize)]
//! struct Greet {
//!     name: String,
//! }
//!
//! struct Greetings;
//!
//! impl Plugin for Greetings {
//!     fn id(&self) -> &str {
//!         "greetings"
//!     }
//!
//!     fn register(&self, api: &mut PluginApi) -> Result<(), PluginError> {
//!         let name = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
//!         api.tool(
//!             define_tool("greet", "Greets somebody by name", name)
//!                 .output(json!({ "type": "string" }))
//!                 .replay_safe()
//!                 .run(|input: Greet| async move { Ok(format!("Hello, {}!", input.name)) }),
//!         );
//!         api.namespace(Registration::new("greetings", "Greetings", "Says hello.", ["greet"], |_| {
//!             Ok(Scope::new().with("to", NamespaceTool::new("greet").positional(["name"])))
//!         }));
//!         Ok(())
//!     }
//! }
//!
//! let host = PluginHost::new();
//! host.load(Arc::new(Greetings), Origin::External)?;
//! assert_eq!(host.tools()[0].tool.definition().name, "greet");
//! assert_eq!(host.namespaces().registrations().iter().count(), 1);
//!
//! assert!(host.unload("greetings"));
//! assert!(host.tools().is_empty());
//! assert_eq!(host.namespaces().registrations().iter().count(), 0);
//! # Ok::<(), codecell_plugins::LoadError>(())
//! ```
mod define;
mod host;
mod plugin;

pub use codecell_namespaces::{NamespaceTool, Registration, Scope, ScopeContext, ScopeValue};
pub use codecell_tools::{
    AfterEvent, AfterOutcome, AfterToolCall, BeforeEvent, BeforeToolCall, BoxFuture, HookDecision,
    HookFailure, HookedCall, Json, Tool, ToolCall, ToolDefinition, ToolError, ToolResult,
};

pub use crate::{
    define::{DefineTool, define_tool},
    host::{LoadError, LoadedTool, MAX_ID_BYTES, Origin, PluginHost},
    plugin::{Plugin, PluginApi, PluginError},
};
