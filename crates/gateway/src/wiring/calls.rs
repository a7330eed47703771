//! Counts what the calls of cells come to, whoever the cells are run for.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use codecell::{CallEnd, CallOutcome, CellLeg, CellResult, NestedCall, Observer};

/// How often nested calls came to what since the process started.
#[derive(Debug, Default)]
pub(crate) struct CallCounts {
    ok: AtomicU64,
    tool_error: AtomicU64,
    failed: AtomicU64,
}

impl CallCounts {
    fn count(&self, outcome: CallOutcome) {
        let counter = match outcome {
            CallOutcome::Ok => &self.ok,
            CallOutcome::ToolError => &self.tool_error,
            CallOutcome::Failed => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Nested calls by how they ended.
    pub(crate) fn read(&self) -> [(&'static str, u64); 3] {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        [
            ("ok", read(&self.ok)),
            ("tool_error", read(&self.tool_error)),
            ("failed", read(&self.failed)),
        ]
    }
}

/// Counts the calls of a cell and tells somebody else of everything.
pub(super) struct Counting {
    pub(super) counts: Arc<CallCounts>,
    pub(super) told: Arc<dyn Observer>,
}

impl Observer for Counting {
    fn leg_started(&self, leg: &CellLeg<'_>) {
        self.told.leg_started(leg);
    }

    fn leg_finished(&self, leg: &CellLeg<'_>, took: Duration, result: &CellResult) {
        self.told.leg_finished(leg, took, result);
    }

    fn call_started(&self, call: &NestedCall) {
        self.told.call_started(call);
    }

    fn call_finished(&self, call: &NestedCall, end: &CallEnd<'_>) {
        self.counts.count(end.outcome);
        self.told.call_finished(call, end);
    }

    fn hears_progress(&self) -> bool {
        self.told.hears_progress()
    }

    fn call_progress(&self, call: &NestedCall, message: &str) {
        self.told.call_progress(call, message);
    }
}
