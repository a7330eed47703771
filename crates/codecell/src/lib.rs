//! Code mode as a library: `exec` and `wait` over a hidden catalog of tools.
//!
//! This crate joins the sides that do not know each other: running programs (guest runtime, bridge, transform,
//! store) and knowing tools (catalog, namespaces, model surface). It reads no configuration file, speaks no HTTP
//! and knows no MCP SDK; tools are reached through [`ToolExecutor`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use codecell::{
//!     BoxFuture, Codecell, EngineOptions, Json, McpRequest, Owner, RunContext, Scope, Settings, Surface, ToolCall,
//!     ToolError, ToolExecutor, ToolResult, ToolSpec, Unobserved,
//! };
//! use serde_json::json;
//!
//! /// Tools that answer with their argument.
//! struct Echo;
//!
//! impl ToolExecutor for Echo {
//!     fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
//!         let value = call.arguments;
//!         Box::pin(async move { Ok(ToolResult { result: value.clone(), value: Some(value), is_error: false }) })
//!     }
//!     fn mcp_request(&self, _: McpRequest) -> BoxFuture<Result<Json, ToolError>> {
//!         Box::pin(async { Err(ToolError { code: "unavailable", message: "no servers".into(), details: None }) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "multi_thread", worker_threads = 1)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let codecell = Codecell::new(EngineOptions::default())?;
//! let echo = ToolSpec::new(Owner::Core, "echo", "Gives back its argument", json!({ "type": "object" }));
//! let run = RunContext {
//!     scope: Scope { agent: "main".into(), session: "s1".into(), run: "r1".into() },
//!     surface: Arc::new(Surface::new(vec![echo], Vec::new(), Arc::new(Echo))),
//!     settings: Settings::default(),
//!     cancel: Default::default(),
//!     observer: Arc::new(Unobserved),
//! };
//! let cell = json!({ "code": "const { n } = await tools.echo({ n: 20 }); return n + 1" });
//! let result = serde_json::to_value(codecell.exec(&cell, run).await)?;
//! assert_eq!(result["status"], "completed");
//! assert_eq!(result["value"], 21);
//! # Ok(())
//! # }
//! ```
mod controller;
mod executor;
mod nested;
mod query;
mod report;
mod request;
mod result;
mod settings;
mod surface;

pub use codecell_bridge::{BoxFuture, Json, Output};
pub use codecell_catalog::{Catalog, Exposure, Owner, Reach, Replay, Tool, ToolId, ToolSpec};
pub use codecell_guest_runtime::{EngineError, EngineOptions};
pub use codecell_model_surface::{Languages, ToolDescriptor};
pub use codecell_namespaces::{McpNamespace, ServerInfo};
pub use codecell_snapshot_store::Scope;

pub use crate::{
    controller::{Codecell, RunContext},
    executor::{
        CallOutcome, McpRequest, NestedCall, Observer, ToolCall, ToolError, ToolExecutor, ToolResult,
        Unobserved,
    },
    result::{CellResult, ErrorCode, Pending, Sources, Telemetry, WaitReason, Warning, WarningKind},
    settings::Settings,
    surface::Surface,
};
