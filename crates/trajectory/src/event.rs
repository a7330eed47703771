use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What `traceSchema` says in every line.
pub const TRACE_SCHEMA: &str = "openclaw-trajectory";

/// What `schemaVersion` says in every line. It moves when a reader of the version before would misread a line.
pub const SCHEMA_VERSION: u32 = 1;

/// One line of a trajectory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrajectoryEvent {
    /// [`TRACE_SCHEMA`].
    pub trace_schema: String,
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Joins the events of one trace; the session's id.
    pub trace_id: String,
    /// Who tells of it.
    pub source: Source,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// When, in RFC 3339 with milliseconds, UTC.
    pub ts: String,
    /// Its place in the session, from 1 and without gaps.
    pub seq: u64,
    /// The session.
    pub session_id: String,
    /// The agent run it belongs to, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// What else there is to say, by type; redacted and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Who tells of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The running session.
    Runtime,
    /// The conversation: calls and their results.
    Transcript,
    /// An export made later.
    Export,
}

/// The `type` of an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// The session begins.
    #[serde(rename = "session.started")]
    SessionStarted,
    /// The session is over.
    #[serde(rename = "session.ended")]
    SessionEnded,
    /// A limit was reached: nothing but the end of the session follows.
    #[serde(rename = "trace.truncated")]
    TraceTruncated,
    /// A tool is called.
    #[serde(rename = "tool.call")]
    ToolCall,
    /// A call has its answer.
    #[serde(rename = "tool.result")]
    ToolResult,
    /// A person is asked.
    #[serde(rename = "approval.requested")]
    ApprovalRequested,
    /// The question is settled.
    #[serde(rename = "approval.resolved")]
    ApprovalResolved,
    /// A type this version does not know, kept as it was read.
    #[serde(untagged)]
    Other(String),
}

/// Something to record.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// The session begins.
    SessionStarted,
    /// The session is over. The one event that is still written when a limit has been reached.
    SessionEnded,
    /// A tool is called.
    ToolCall(ToolCall),
    /// A call has its answer.
    ToolResult(ToolResult),
    /// A person is asked.
    ApprovalRequested(ApprovalRequested),
    /// The question is settled.
    ApprovalResolved(ApprovalResolved),
}

impl Happening {
    pub(crate) fn kind(&self) -> EventKind {
        match self {
            Self::SessionStarted => EventKind::SessionStarted,
            Self::SessionEnded => EventKind::SessionEnded,
            Self::ToolCall(_) => EventKind::ToolCall,
            Self::ToolResult(_) => EventKind::ToolResult,
            Self::ApprovalRequested(_) => EventKind::ApprovalRequested,
            Self::ApprovalResolved(_) => EventKind::ApprovalResolved,
        }
    }

    pub(crate) fn source(&self) -> Source {
        match self {
            Self::ToolCall(_) | Self::ToolResult(_) => Source::Transcript,
            _ => Source::Runtime,
        }
    }

    /// What the event says beside its type.
    pub(crate) fn into_data(self) -> Option<Value> {
        match self {
            Self::SessionStarted | Self::SessionEnded => None,
            Self::ToolCall(mut call) => {
                let arguments = std::mem::take(&mut call.arguments);
                Some(with(written(&call), "arguments", arguments))
            }
            Self::ToolResult(mut answer) => {
                let result = std::mem::take(&mut answer.result);
                Some(with(written(&answer), "result", result))
            }
            Self::ApprovalRequested(asked) => Some(written(&asked)),
            Self::ApprovalResolved(resolved) => Some(written(&resolved)),
        }
    }
}

fn written(payload: &impl Serialize) -> Value {
    serde_json::to_value(payload).unwrap_or_else(|_| Value::from("<unserializable>"))
}

/// Puts the one large part back, which is moved rather than written.
fn with(mut data: Value, key: &str, part: Value) -> Value {
    if let Some(place) = data.get_mut(key) {
        *place = part;
    }
    data
}

/// `data` of a `tool.call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Names this call in the session.
    pub tool_call_id: String,
    /// The `exec` whose cell made the call; the same one when the call was made in a later `wait`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_call_id: Option<String>,
    /// The exact id in the catalog, for a nested call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog_id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// `code_mode_exec` or `code_mode_wait` for the two controls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_kind: Option<String>,
    /// The language of a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input_kind: Option<String>,
    /// What it is called with.
    pub arguments: Value,
}

impl ToolCall {
    /// A tool the model calls itself.
    #[must_use]
    pub fn direct(tool_call_id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self {
            tool_call_id: tool_call_id.into(),
            parent_tool_call_id: None,
            catalog_id: None,
            name: name.into(),
            tool_kind: None,
            tool_input_kind: None,
            arguments,
        }
    }

    /// A cell: an `exec` with the program in `arguments`. `language` is absent where the arguments name no valid one.
    #[must_use]
    pub fn cell(tool_call_id: impl Into<String>, language: Option<&str>, arguments: Value) -> Self {
        Self {
            tool_kind: Some("code_mode_exec".to_owned()),
            tool_input_kind: language.map(str::to_owned),
            ..Self::direct(tool_call_id, "exec", arguments)
        }
    }

    /// A `wait`, with the run's id in `arguments`.
    #[must_use]
    pub fn wait(tool_call_id: impl Into<String>, arguments: Value) -> Self {
        Self {
            tool_kind: Some("code_mode_wait".to_owned()),
            ..Self::direct(tool_call_id, "wait", arguments)
        }
    }

    /// A call made by the cell of the `exec` called `parent`.
    #[must_use]
    pub fn nested(
        tool_call_id: impl Into<String>,
        parent: impl Into<String>,
        catalog_id: impl Into<String>,
        name: impl Into<String>,
        arguments: Value,
    ) -> Self {
        Self {
            parent_tool_call_id: Some(parent.into()),
            catalog_id: Some(catalog_id.into()),
            ..Self::direct(tool_call_id, name, arguments)
        }
    }

    /// The answer to this call.
    #[must_use]
    pub fn result(&self, outcome: Outcome, result: Value, took_ms: u64) -> ToolResult {
        let (is_error, code) = match outcome {
            Outcome::Ok => (false, None),
            Outcome::Error(code) => (true, code),
        };
        ToolResult {
            tool_call_id: self.tool_call_id.clone(),
            parent_tool_call_id: self.parent_tool_call_id.clone(),
            catalog_id: self.catalog_id.clone(),
            name: self.name.clone(),
            is_error,
            code,
            took_ms,
            result,
        }
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With a value.
    Ok,
    /// With an error, and its code if it has one.
    Error(Option<String>),
}

/// `data` of a `tool.result`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call this answers.
    pub tool_call_id: String,
    /// As in the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_call_id: Option<String>,
    /// As in the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog_id: Option<String>,
    /// As in the call.
    pub name: String,
    /// Whether it failed.
    pub is_error: bool,
    /// The code of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Milliseconds from the call to the answer.
    pub took_ms: u64,
    /// The answer, or what is known of the failure.
    pub result: Value,
}

/// `data` of an `approval.requested`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequested {
    /// Names the question.
    pub approval_id: String,
    /// The call that waits for it.
    pub tool_call_id: String,
    /// What the person is asked.
    pub title: String,
    /// More of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// `data` of an `approval.resolved`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalResolved {
    /// The question.
    pub approval_id: String,
    /// The call that waited for it.
    pub tool_call_id: String,
    /// `allow-once`, `allow-always`, `deny`, or what else ended it, such as `timeout` or `cancelled`.
    pub decision: String,
    /// Who or what decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<String>,
}

macro_rules! from_payload {
    ($($payload:ident),*) => {$(
        impl From<$payload> for Happening {
            fn from(payload: $payload) -> Self {
                Self::$payload(payload)
            }
        }
    )*};
}

from_payload!(ToolCall, ToolResult, ApprovalRequested, ApprovalResolved);
