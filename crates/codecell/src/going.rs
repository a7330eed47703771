//! What is going on: so that the end of a session reaches it, and for the people who look after a process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use codecell_snapshot_store::Scope;
use tokio_util::sync::CancellationToken;

/// A cell that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellInfo {
    /// Names the cell within its process, as [`CellLeg::id`](crate::CellLeg) of its `exec` does. Nobody can resume it
    /// with that.
    pub id: String,
    /// The agent on whose behalf it runs.
    pub agent: String,
    /// The agent's session.
    pub session: String,
    /// Where its caller came from, if that is known.
    pub channel: Option<String>,
    /// When its `exec` was called.
    pub started_at: SystemTime,
    /// What it does right now.
    pub state: CellState,
}

/// What a cell does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// Somebody waits for the result of its `exec`, or of a `wait`.
    Running,
    /// It is kept until somebody goes on with it.
    Suspended,
}

/// An `exec` or `wait` that has no result yet.
pub(crate) struct Executing {
    pub(crate) scope: Scope,
    pub(crate) cancel: CancellationToken,
    /// The cell. None for a `wait` that has none yet.
    pub(crate) about: Option<Arc<CellInfo>>,
}

/// The cells that are being executed.
#[derive(Default)]
pub(crate) struct Going {
    executing: Mutex<HashMap<u64, Executing>>,
    next: AtomicU64,
    closed: AtomicBool,
}

impl Going {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Executing>> {
        self.executing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a cell on the list; none after the end of the process has begun.
    pub(crate) fn enter(self: &Arc<Self>, executing: Executing) -> Option<Place> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut all = self.lock();
        // Under the lock that `close` takes after it has closed.
        if self.closed.load(Ordering::SeqCst) {
            return None;
        }
        all.insert(number, executing);
        drop(all);
        Some(Place {
            going: Arc::clone(self),
            number,
        })
    }

    /// Cancels what it is true of; says whether there was any.
    pub(crate) fn cancel(&self, of: impl Fn(&Executing) -> bool) -> bool {
        let all = self.lock();
        let mut found = false;
        for executing in all.values().filter(|executing| of(executing)) {
            executing.cancel.cancel();
            found = true;
        }
        found
    }

    /// Cancels everything and lets nothing in any more.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.cancel(|_| true);
    }

    /// The cells, in no order.
    pub(crate) fn cells(&self) -> Vec<CellInfo> {
        let all = self.lock();
        let cells = all.values().filter_map(|executing| executing.about.as_deref());
        cells.cloned().collect()
    }
}

/// A cell's place on the list; dropping it takes the cell off.
pub(crate) struct Place {
    going: Arc<Going>,
    number: u64,
}

impl Place {
    /// It has become known which cell is executed.
    pub(crate) fn is_of(&self, about: &Arc<CellInfo>) {
        if let Some(executing) = self.going.lock().get_mut(&self.number) {
            executing.about = Some(Arc::clone(about));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.going.lock().remove(&self.number);
    }
}
