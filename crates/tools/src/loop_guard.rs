use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Mutex, PoisonError};

use codecell_catalog::ToolId;
use serde_json::Value;

use crate::caller::Caller;

/// Runs that are watched at once; the one that began first is forgotten.
const MAX_RUNS: usize = 256;

/// Different calls that are counted in one run; the one that was made first is forgotten.
const MAX_CALLS: usize = 1_024;

/// How often a run may make one and the same call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopLimits {
    /// From this call on, the log says so.
    pub warn_at: u32,
    /// This call and later ones are blocked.
    pub block_at: u32,
}

impl Default for LoopLimits {
    fn default() -> Self {
        Self {
            warn_at: 10,
            block_at: 20,
        }
    }
}

/// Stops a run that makes the same call again and again: the same tool with the same argument, whatever the order of
/// its keys. Counts hashes only, and a bounded number of them.
#[derive(Debug)]
pub struct LoopGuard {
    limits: LoopLimits,
    hashing: RandomState,
    runs: Mutex<Runs>,
}

#[derive(Debug, Default)]
struct Runs {
    order: VecDeque<u64>,
    by_run: HashMap<u64, Run>,
}

#[derive(Debug, Default)]
struct Run {
    order: VecDeque<u64>,
    counts: HashMap<u64, u32>,
}

impl LoopGuard {
    /// A guard that has seen nothing.
    #[must_use]
    pub fn new(limits: LoopLimits) -> Self {
        Self {
            limits,
            hashing: RandomState::new(),
            runs: Mutex::default(),
        }
    }

    /// Counts a call; gives the reason when it must not be made.
    pub(crate) fn note(&self, caller: &Caller, tool: &ToolId, arguments: &Value) -> Result<(), String> {
        let run = self
            .hashing
            .hash_one((&caller.agent, &caller.session, &caller.run));
        let call = self.hashing.hash_one((tool, self.hash(arguments)));
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let count = runs.of(run).count(call);
        drop(runs);
        if count >= self.limits.block_at {
            return Err(format!(
                "this run has made the same call {count} times; change the arguments, or go on without it"
            ));
        }
        if count >= self.limits.warn_at {
            tracing::warn!(%tool, run = caller.run, count, "the same call again");
        }
        Ok(())
    }

    /// A hash to which the order of object keys does not matter.
    fn hash(&self, value: &Value) -> u64 {
        let mut hasher = self.hashing.build_hasher();
        match value {
            Value::Object(members) => {
                let sum = members.iter().fold(0u64, |sum, (key, value)| {
                    sum.wrapping_add(self.hashing.hash_one((key, self.hash(value))))
                });
                (0u8, members.len(), sum).hash(&mut hasher);
            }
            Value::Array(items) => {
                (1u8, items.len()).hash(&mut hasher);
                for item in items {
                    self.hash(item).hash(&mut hasher);
                }
            }
            other => (2u8, other.to_string()).hash(&mut hasher),
        }
        hasher.finish()
    }
}

impl Runs {
    fn of(&mut self, run: u64) -> &mut Run {
        if !self.by_run.contains_key(&run) {
            if self.order.len() >= MAX_RUNS
                && let Some(oldest) = self.order.pop_front()
            {
                self.by_run.remove(&oldest);
            }
            self.order.push_back(run);
        }
        self.by_run.entry(run).or_default()
    }
}

impl Run {
    fn count(&mut self, call: u64) -> u32 {
        if !self.counts.contains_key(&call) {
            if self.order.len() >= MAX_CALLS
                && let Some(oldest) = self.order.pop_front()
            {
                self.counts.remove(&oldest);
            }
            self.order.push_back(call);
        }
        let count = self.counts.entry(call).or_default();
        *count = count.saturating_add(1);
        *count
    }
}

#[cfg(test)]
mod tests {
    use codecell_catalog::Owner;
    use serde_json::json;

    use super::*;

    fn guard() -> LoopGuard {
        LoopGuard::new(LoopLimits {
            warn_at: 2,
            block_at: 3,
        })
    }

    fn caller(run: &str) -> Caller {
        Caller {
            run: run.to_owned(),
            ..Caller::default()
        }
    }

    #[test]
    fn only_equal_calls_of_one_run_are_counted_together() {
        let guard = guard();
        let [read, write] = ["read", "write"].map(|name| ToolId::new(&Owner::Core, name));
        let note =
            |run: &str, tool: &ToolId, arguments: Value| guard.note(&caller(run), tool, &arguments).is_ok();
        assert!(note("a", &read, json!({ "x": 1, "y": [1, 2] })));
        assert!(note("a", &read, json!({ "y": [1, 2], "x": 1 })));
        assert!(note("b", &read, json!({ "x": 1, "y": [1, 2] })), "another run");
        assert!(note("a", &write, json!({ "x": 1, "y": [1, 2] })), "another tool");
        assert!(
            note("a", &read, json!({ "x": 1, "y": [2, 1] })),
            "another argument"
        );
        assert!(
            !note("a", &read, json!({ "x": 1, "y": [1, 2] })),
            "the third time"
        );
        assert!(
            !note("a", &read, json!({ "x": 1, "y": [1, 2] })),
            "and the fourth"
        );
    }

    #[test]
    fn memory_is_bounded_whatever_is_called() {
        let guard = guard();
        let read = ToolId::new(&Owner::Core, "read");
        for number in 0..MAX_CALLS + 10 {
            guard.note(&caller("a"), &read, &json!(number)).unwrap();
        }
        for number in 0..MAX_RUNS + 10 {
            guard
                .note(&caller(&number.to_string()), &read, &json!(0))
                .unwrap();
        }
        let runs = guard.runs.lock().unwrap();
        assert_eq!((runs.order.len(), runs.by_run.len()), (MAX_RUNS, MAX_RUNS));
        let calls = runs.by_run.values().map(|run| run.counts.len());
        assert!(calls.max() <= Some(MAX_CALLS));
    }
}
