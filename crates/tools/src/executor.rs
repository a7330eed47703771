use std::fmt;
use std::sync::Arc;

use codecell_bridge::{BoxFuture, CallId, Json, Outside, OutsideGuard};
use codecell_catalog::{Owner, Tool as CatalogTool};
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;

/// Carries calls to where the tools are, and does nothing else. Argument checks, policy, hooks, approval, contracts
/// and audit are the business of [`ExecutionPath`](crate::ExecutionPath), which every call goes through exactly once.
///
/// Return soon after the call's `cancel` fires.
pub trait ToolExecutor: Send + Sync + 'static {
    /// Runs one tool.
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>>;

    /// Carries `resources/list`, `resources/read`, `prompts/list` or `prompts/get` to an MCP server and gives its
    /// result object. The default knows no servers.
    fn mcp_request(&self, request: McpRequest) -> BoxFuture<Result<Json, ToolError>> {
        let message = format!("there is no MCP server `{}` here", request.server);
        Box::pin(async move { Err(ToolError::new("unknown_server", message)) })
    }
}

/// A call on its way to a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool.
    pub tool: Arc<CatalogTool>,
    /// The argument, always an object.
    pub arguments: Json,
    /// On whose behalf.
    pub caller: Arc<Caller>,
    /// Fires when nobody wants the answer any more.
    pub cancel: CancellationToken,
    /// Takes what the tool has to tell before it is done.
    pub progress: Progress,
    /// The id of the cell that calls; none for a direct call.
    pub cell: Option<String>,
    /// Number of the call within its cell; of a direct call, what its maker gave it.
    pub number: u32,
    /// The calls of that cell that wait for somebody outside; see [`wait_outside`](Self::wait_outside).
    pub outside: Outside,
}

impl ToolCall {
    /// Who owns the tool.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.tool.spec().owner
    }

    /// The name the tool's owner knows it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.tool.spec().name
    }

    /// Notes that from now on the call waits for somebody who may answer only once its cell is suspended, until the
    /// guard is dropped. A cell with no other calls is suspended at once. Of no effect for a direct call.
    ///
    /// Drop it when the answer comes in, before the call goes on with it: a cell must not be suspended for an answer
    /// that is here.
    pub fn wait_outside(&self) -> OutsideGuard {
        self.outside.enter(CallId(self.number))
    }

    /// Whether the tool's owner says that it only reads: a hint, never a permission.
    #[must_use]
    pub fn says_read_only(&self) -> bool {
        says(&self.tool, "readOnlyHint")
    }
}

/// Whether an MCP annotation of this name is `true`. Absent and odd ones are not.
pub(crate) fn says(tool: &CatalogTool, annotation: &str) -> bool {
    let hints = tool.spec().annotations.as_ref();
    hints
        .and_then(|hints| hints.get(annotation))
        .and_then(serde_json::Value::as_bool)
        .unwrap_or(false)
}

/// Where a running tool tells how far it is. Cheap to clone; the default goes nowhere.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(String) + Send + Sync>>);

impl Progress {
    /// Progress that is told to `heard`, which must return at once.
    #[must_use]
    pub fn to(heard: Arc<dyn Fn(String) + Send + Sync>) -> Self {
        Self(Some(heard))
    }

    /// Whether anybody listens: a tool need not count how far it is for nobody.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Tells one line of text.
    pub fn tell(&self, message: impl Into<String>) {
        if let Some(heard) = &self.0 {
            heard(message.into());
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").field(&self.0.is_some()).finish()
    }
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
    /// The whole result object; for MCP tools in MCP's shape, for others `{ content, details }`.
    pub result: Json,
    /// The structured value, where the tool has one.
    pub value: Option<Json>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

impl ToolResult {
    /// The result of a tool whose answer is a value: the value as `details`, its text as `content`.
    #[must_use]
    pub fn of_value(value: Json) -> Self {
        let text = serde_json::Value::from(value.as_str());
        let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"details":{value}}}"#);
        // Both parts are JSON, so the whole is.
        let result = Json::parse(&result).unwrap_or_else(|_| value.clone());
        Self {
            result,
            value: Some(value),
            is_error: false,
        }
    }
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

impl ToolError {
    /// An error without details.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: None,
        }
    }
}
