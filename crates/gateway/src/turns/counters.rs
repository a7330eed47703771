//! Counts for whoever watches the process. They only ever grow.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use codecell_agent::Stop;
use codecell_llm::Api;

use crate::histogram::Histogram;

/// The steps into which turns are sorted, in seconds.
const TURN_STEPS: [f64; 11] = [0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0];

/// Requests to providers by their protocol and what became of them.
type Requests = BTreeMap<(&'static str, &'static str), u64>;

/// How often things happened since the process started.
#[derive(Debug)]
pub(crate) struct Counters {
    turns_done: AtomicU64,
    turns_limited: AtomicU64,
    turns_aborted: AtomicU64,
    turns_failed: AtomicU64,
    turn_time: Mutex<Histogram>,
    requests: Mutex<Requests>,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            turns_done: AtomicU64::default(),
            turns_limited: AtomicU64::default(),
            turns_aborted: AtomicU64::default(),
            turns_failed: AtomicU64::default(),
            turn_time: Mutex::new(Histogram::new(&TURN_STEPS)),
            requests: Mutex::default(),
        }
    }
}

impl Counters {
    pub(super) fn turn(&self, stop: &Stop, took: Duration) {
        let counter = match stop {
            Stop::Done | Stop::Refused(_) => &self.turns_done,
            Stop::Length | Stop::Limit(_) => &self.turns_limited,
            Stop::Aborted => &self.turns_aborted,
            Stop::Failed(_) => &self.turns_failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut times = self.turn_time.lock().unwrap_or_else(PoisonError::into_inner);
        times.record(took);
    }

    pub(super) fn provider_request(&self, api: Api, outcome: &'static str) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((api.name(), outcome)).or_default() += 1;
    }

    /// Turns by how they ended.
    pub(crate) fn turns(&self) -> [(&'static str, u64); 4] {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        [
            ("done", read(&self.turns_done)),
            ("limited", read(&self.turns_limited)),
            ("aborted", read(&self.turns_aborted)),
            ("failed", read(&self.turns_failed)),
        ]
    }

    /// How long turns took, the time that they waited for their application included.
    pub(crate) fn turn_time(&self) -> Histogram {
        let times = self.turn_time.lock().unwrap_or_else(PoisonError::into_inner);
        times.clone()
    }

    /// Requests to providers by their protocol and what became of them.
    pub(crate) fn provider_requests(&self) -> Vec<((&'static str, &'static str), u64)> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.iter().map(|(labels, count)| (*labels, *count)).collect()
    }
}
