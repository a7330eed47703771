//! The one way from a call to its tool, whoever calls: a model, or a cell.
//!
//! [`ToolExecutor`] is raw: it reaches the tool. [`ExecutionPath`] is the only thing around it, and every call goes
//! through it exactly once: checks, policy, plugins' hooks, people's approval, the tool, its contract, the record.
//! Nothing here runs a cell, speaks MCP or reads a configuration file.
//!
//! ```
//! use std::sync::Arc;
//!
//! use codecell_catalog::{Owner, Tool as CatalogTool};
//! use codecell_tools::{
//!     BoxFuture, CallContext, Caller, ExecutionPath, Json, Policy, Progress, Step, Tool, ToolCall, ToolDefinition,
//!     ToolError, ToolLists, ToolResult, Toolbox,
//! };
//! use serde_json::json;
//!
//! struct Add;
//!
//! impl Tool for Add {
//!     fn definition(&self) -> ToolDefinition {
//!         let numbers = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
//!         ToolDefinition::new("increment", "Adds one", numbers)
//!     }
//!
//!     fn call(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
//!         Box::pin(async move {
//!             let given: serde_json::Value = call.arguments.read().unwrap_or_default();
//!             let sum = given["a"].as_i64().unwrap_or_default() + 1;
//!             Ok(ToolResult::of_value(Json::from(json!(sum))))
//!         })
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let toolbox = Toolbox::builder().core(Arc::new(Add)).build()?;
//! let increment = Arc::new(CatalogTool::alone(toolbox.specs().remove(0)));
//! let path = ExecutionPath::bare(Arc::new(toolbox));
//! let context = || CallContext {
//!     caller: Arc::new(Caller::default()),
//!     cell: None,
//!     number: 0,
//!     cancel: Default::default(),
//!     progress: Progress::default(),
//! };
//! let four = Json::parse(r#"{"a":4}"#)?;
//! let delivered = path.call(&increment, Some(&four), context()).await?;
//! assert_eq!(delivered.result.value, Some(Json::parse("5")?));
//!
//! let deny = ToolLists { deny: Some(vec!["group:core".into()]), ..ToolLists::default() };
//! let strict = path.with_policy(Policy::new(vec![Step::new("global", "tools", &deny)?]));
//! let refused = strict.call(&increment, Some(&four), context()).await.unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     "Tool \"openclaw:core:increment\" was blocked before execution: \
//!      Tool \"increment\" blocked by global tool policy (`group:core` in tools.deny)"
//! );
//! # Ok(()) })
//! # }
//! ```

mod approvals;
mod audit;
mod caller;
mod client;
mod executor;
mod hooks;
mod loop_guard;
mod path;
mod policy;
mod recent;
mod tool;
mod toolbox;
mod trusted;

pub use codecell_bridge::{BoxFuture, Json, Outside, OutsideGuard};

pub use crate::{
    approvals::{
        ApprovalAsk, ApprovalNews, ApprovalRequest, Approvals, AskRule, DEFAULT_APPROVAL_TIME, DecideError,
        Decision, MAX_DESCRIPTION_CHARS, MAX_PLUGIN_APPROVAL_TIME, MAX_POLICY_APPROVAL_TIME, MAX_TITLE_CHARS,
        OpenQuestion, Origin, PendingApproval, PendingCell, Resolution, RouteGuard, Severity,
    },
    audit::{Audit, AuditAction, AuditActor, AuditEvent, AuditStatus, TracingAudit},
    caller::{Caller, ParentCell},
    client::{AnswerError, ClientCall, ClientNews, ClientToolProblem, ClientTools, RefusedTool},
    executor::{McpRequest, Progress, ToolCall, ToolError, ToolExecutor, ToolResult},
    hooks::{
        AfterEvent, AfterOutcome, AfterToolCall, BeforeEvent, BeforeToolCall, DEFAULT_HOOK_TIME,
        HookDecision, HookFailure, HookedCall, Hooks, MAX_HOOK_TIME,
    },
    loop_guard::{LoopGuard, LoopLimits},
    path::{CallContext, CallError, CellRequest, Delivered, DeniedReason, ExecutionPath, MAX_ARGUMENT_BYTES},
    policy::{
        Applied, Emptied, Grants, Policy, Removed, Restrictions, SelectorError, Step, StepError, ToolLists,
        UnknownEntries, Verdict,
    },
    tool::{Tool, ToolDefinition},
    toolbox::{Toolbox, ToolboxBuilder, ToolboxError},
    trusted::{CallFacts, CallPolicy, Refusal},
};
