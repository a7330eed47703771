use std::time::Duration;

use codecell_bridge::{Answer, Json};
use codecell_catalog::ToolId;
use serde_json::Value;

use crate::result::CellResult;

/// Watches cells and their nested calls, for progress, records and people.
///
/// Called on the runtime that carries the calls; must return at once.
pub trait Observer: Send + Sync + 'static {
    /// `exec` or `wait` was called.
    fn leg_started(&self, leg: &CellLeg<'_>) {
        let _ = leg;
    }

    /// `exec` or `wait` has its result.
    fn leg_finished(&self, leg: &CellLeg<'_>, took: Duration, result: &CellResult) {
        let _ = (leg, took, result);
    }

    /// A nested call starts.
    fn call_started(&self, call: &NestedCall) {
        let _ = call;
    }

    /// A nested call has ended, well or not.
    fn call_finished(&self, call: &NestedCall, end: &CallEnd<'_>) {
        let _ = (call, end);
    }

    /// Whether [`call_progress`](Self::call_progress) is of use; asked once a call. Servers are asked for progress
    /// only then.
    fn hears_progress(&self) -> bool {
        false
    }

    /// A running call tells how far it is. The text may be an upstream server's.
    fn call_progress(&self, call: &NestedCall, message: &str) {
        let _ = (call, message);
    }
}

/// An observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// Two observers, told one after the other.
impl<A: Observer, B: Observer> Observer for (std::sync::Arc<A>, std::sync::Arc<B>) {
    fn leg_started(&self, leg: &CellLeg<'_>) {
        self.0.leg_started(leg);
        self.1.leg_started(leg);
    }

    fn leg_finished(&self, leg: &CellLeg<'_>, took: Duration, result: &CellResult) {
        self.0.leg_finished(leg, took, result);
        self.1.leg_finished(leg, took, result);
    }

    fn call_started(&self, call: &NestedCall) {
        self.0.call_started(call);
        self.1.call_started(call);
    }

    fn call_finished(&self, call: &NestedCall, end: &CallEnd<'_>) {
        self.0.call_finished(call, end);
        self.1.call_finished(call, end);
    }

    fn hears_progress(&self) -> bool {
        self.0.hears_progress() || self.1.hears_progress()
    }

    fn call_progress(&self, call: &NestedCall, message: &str) {
        self.0.call_progress(call, message);
        self.1.call_progress(call, message);
    }
}

/// One `exec` or `wait`, as an [`Observer`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct CellLeg<'a> {
    /// Names this call of `exec` or `wait` within the process. Of an `exec` it names the cell too.
    pub id: &'a str,
    /// `exec` or `wait`.
    pub tool: &'static str,
    /// The arguments as they came. May hold secrets: not for logs.
    pub arguments: &'a Value,
}

/// A nested call as an [`Observer`] sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedCall {
    /// Number of the call within its run.
    pub number: u32,
    /// The `exec` whose program calls, also when a later `wait` carries it on.
    pub cell: String,
    /// The tool as the program spelled it, for example `MCP.github.createIssue`.
    pub tool: String,
    /// The tool's exact id; none for requests that are no tool call, and for tools that do not exist.
    pub id: Option<ToolId>,
    /// The argument, if one was given. May hold secrets: not for logs.
    pub arguments: Option<Json>,
}

/// How a nested call ended, as an [`Observer`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct CallEnd<'a> {
    /// From the start of the call.
    pub took: Duration,
    /// In one word.
    pub outcome: CallOutcome,
    /// What the program gets. May hold secrets: not for logs.
    pub answer: &'a Answer,
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
