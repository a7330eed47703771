use std::time::Duration;

use codecell_bridge::{BoxFuture, Json};
use codecell_catalog::{Owner, ToolId};
use tokio_util::sync::CancellationToken;

/// Carries nested calls to the tools. Everything that must happen around a call (policy, hooks, approval, audit)
/// sits behind this trait; code mode adds nothing and skips nothing.
///
/// Arguments have been checked against the tool's schema when a call arrives here. Return soon after the call's
/// `cancel` fires.
pub trait ToolExecutor: Send + Sync + 'static {
    /// Runs one tool.
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>>;

    /// Carries `resources/list`, `resources/read`, `prompts/list` or `prompts/get` to an MCP server and gives its
    /// result object.
    fn mcp_request(&self, request: McpRequest) -> BoxFuture<Result<Json, ToolError>>;
}

/// A nested call on its way to a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool.
    pub tool: ToolId,
    /// Who owns it.
    pub owner: Owner,
    /// The name its owner knows it by.
    pub name: String,
    /// The argument, always an object.
    pub arguments: Json,
    /// Whether the tool's owner says that it only reads.
    pub read_only: bool,
    /// Fires when nobody wants the answer any more.
    pub cancel: CancellationToken,
}

/// A request to an MCP server that is no tool call.
#[derive(Clone, Debug)]
pub struct McpRequest {
    /// The server's configured name.
    pub server: String,
    /// The protocol's method name.
    pub method: &'static str,
    /// The parameters, an object.
    pub params: Option<Json>,
    /// Fires when nobody wants the answer any more.
    pub cancel: CancellationToken,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The whole result object; for MCP tools in MCP's shape.
    pub result: Json,
    /// The structured value, where the tool has one.
    pub value: Option<Json>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

/// Why a call gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// Stable and machine-readable, for example `unavailable`.
    pub code: &'static str,
    /// What happened and what to do.
    pub message: String,
    /// Structured details.
    pub details: Option<Json>,
}

/// Watches the nested calls of a cell, for progress and for people.
///
/// Called on the runtime that carries the calls; must return at once.
pub trait Observer: Send + Sync + 'static {
    /// A call starts.
    fn call_started(&self, call: &NestedCall) {
        let _ = call;
    }

    /// A call has ended, well or not.
    fn call_finished(&self, call: &NestedCall, took: Duration, outcome: CallOutcome) {
        let _ = (call, took, outcome);
    }
}

/// An observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// A nested call as an [`Observer`] sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedCall {
    /// Number of the call within its run.
    pub number: u32,
    /// The tool as the program spelled it, for example `MCP.github.createIssue`.
    pub tool: String,
    /// The argument, if one was given. May hold secrets: not for logs.
    pub arguments: Option<Json>,
}

/// How a nested call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// With a result.
    Ok,
    /// With a result that says the tool failed.
    ToolError,
    /// Without a result.
    Failed,
}
