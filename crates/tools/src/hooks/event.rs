use std::sync::Arc;
use std::time::Duration;

use codecell_bridge::{BoxFuture, Json};
use codecell_catalog::ToolId;

use crate::approvals::ApprovalAsk;
use crate::caller::Caller;
use crate::executor::ToolResult;

/// A plugin's say before a tool runs.
///
/// Called once per call, direct or nested, and once per outer `exec`. Runs in a task of its own: a panic is an error,
/// and an error or a missed time limit blocks the call. Missing the limit ends the wait, not the task.
pub trait BeforeToolCall: Send + Sync + 'static {
    /// Decides on one call.
    fn before(&self, event: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>>;
}

/// A plugin's look at what a tool gave, before the caller sees it.
///
/// Called once per call that reached its tool and was not cancelled. Runs in a task of its own: an error, a panic or
/// a missed time limit is logged and changes nothing.
pub trait AfterToolCall: Send + Sync + 'static {
    /// Looks at one outcome. A result that is returned replaces the tool's; a failure stays a failure.
    fn after(&self, event: AfterEvent) -> BoxFuture<Result<Option<ToolResult>, HookFailure>>;
}

/// A hook did not come to a decision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HookFailure {
    /// What went wrong. Logged, and told to nobody else.
    pub message: String,
}

impl HookFailure {
    /// A failure for the log.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

/// Which call a hook is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookedCall {
    /// The tool's name; `exec` for the outer call of code mode.
    pub tool: String,
    /// Its catalog id; none for the outer call of code mode.
    pub id: Option<ToolId>,
    /// `code_mode_exec` for the outer call of code mode.
    pub tool_kind: Option<&'static str>,
    /// `javascript` or `typescript`, where that is known.
    pub tool_input_kind: Option<&'static str>,
    /// On whose behalf. What is missing there is not proven.
    pub caller: Arc<Caller>,
    /// The id of the cell that calls; none for a direct call.
    pub cell: Option<String>,
    /// Number of the call within its cell.
    pub number: u32,
}

/// What a before hook gets: a copy of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeEvent {
    /// The call.
    pub call: HookedCall,
    /// The argument, as the hooks before this one left it.
    pub params: Json,
}

/// What an after hook gets: a copy of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct AfterEvent {
    /// The call.
    pub call: HookedCall,
    /// The argument that the tool got.
    pub params: Json,
    /// What came of it, as the hooks before this one left it.
    pub outcome: AfterOutcome,
    /// How long the tool took.
    pub took: Duration,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub enum AfterOutcome {
    /// The tool answered, perhaps that it failed.
    Returned(ToolResult),
    /// There is no result, or it breaks the tool's own contract.
    Failed {
        /// Stable and machine-readable.
        code: &'static str,
        /// What happened.
        message: String,
    },
}

/// A before hook's opinion. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookDecision {
    /// Replaces the argument, unless a hook has already asked for approval of what it saw.
    pub params: Option<Json>,
    /// Blocks the call for this reason; a blank one is given a text. No later hook is asked.
    pub block: Option<String>,
    /// Asks a person. The first to ask wins.
    pub require_approval: Option<ApprovalAsk>,
}

impl HookDecision {
    /// Lets the call pass.
    #[must_use]
    pub fn pass() -> Self {
        Self::default()
    }

    /// Blocks the call.
    #[must_use]
    pub fn block(reason: impl Into<String>) -> Self {
        Self {
            block: Some(reason.into()),
            ..Self::default()
        }
    }

    /// Replaces the argument.
    #[must_use]
    pub fn rewrite(params: Json) -> Self {
        Self {
            params: Some(params),
            ..Self::default()
        }
    }

    /// Asks a person.
    #[must_use]
    pub fn ask(ask: ApprovalAsk) -> Self {
        Self {
            require_approval: Some(ask),
            ..Self::default()
        }
    }
}
