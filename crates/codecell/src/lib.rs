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
//!     BoxFuture, Caller, Codecell, EngineOptions, Owner, RunContext, Settings, Surface, ToolCall, ToolError,
//!     ToolExecutor, ToolResult, ToolSpec, Unobserved,
//! };
//! use serde_json::json;
//!
//! /// Tools that answer with their argument.
//! struct Echo;
//!
//! impl ToolExecutor for Echo {
//!     fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
//!         Box::pin(async move { Ok(ToolResult::of_value(call.arguments)) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "multi_thread", worker_threads = 1)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let codecell = Codecell::new(EngineOptions::default())?;
//! let echo = ToolSpec::new(Owner::Core, "echo", "Gives back its argument", json!({ "type": "object" }));
//! let run = RunContext {
//!     caller: Caller::new("main", "s1", "r1"),
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
mod answer;
mod controller;
mod going;
mod leg;
mod missing;
mod nested;
mod observer;
mod query;
mod report;
mod request;
mod result;
mod run;
mod settings;
mod surface;

pub use codecell_bridge::{Answer, BoxFuture, Json, Output};
pub use codecell_catalog::{Catalog, Exposure, Owner, Reach, Replay, Tool, ToolId, ToolSpec};
pub use codecell_guest_runtime::{EngineError, EngineOptions};
/// The last check of what a model is sent.
pub use codecell_model_surface::{ApprovedTools, GuardReport, GuardViolation, WireShape, guard_payload};
pub use codecell_model_surface::{Languages, ToolDescriptor};
pub use codecell_namespaces::{McpNamespace, NamespaceRegistry, Registrations, ServerInfo};
/// The execution path and what belongs to it: policy, hooks, approvals, tools of this process.
pub use codecell_tools as tools;
pub use codecell_tools::{Caller, ExecutionPath, McpRequest, ToolCall, ToolError, ToolExecutor, ToolResult};

pub use crate::{
    controller::{Codecell, RunContext},
    going::{CellInfo, CellState},
    observer::{CallEnd, CallOutcome, CellLeg, NestedCall, Observer, Unobserved},
    result::{CellResult, ErrorCode, Pending, Sources, Telemetry, WaitReason, Warning, WarningKind},
    settings::Settings,
    surface::Surface,
};
