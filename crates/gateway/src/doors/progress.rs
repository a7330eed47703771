//! Tells the caller of a cell what is going on in it.
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use codecell::{CallEnd, CallOutcome, Caller, CellResult, NestedCall, Observer};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use crate::wiring::named_run;

/// Longest silence while a cell runs: hosts give up on a call that says nothing for long.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Messages that may wait for a slow reader. More are dropped: a later one says the same and more.
const MAX_WAITING_MESSAGES: usize = 256;

/// Suspended cells that are remembered: the most that a process keeps, so a forgotten one has expired.
const MAX_WAITING_CELLS: usize = 64;

/// Where a caller wants its progress: only callers that sent a token get any.
pub(super) struct Listener {
    pub(super) peer: Peer<RoleServer>,
    pub(super) token: ProgressToken,
    /// Fires when the connection ends: from then on nothing that is sent is ever taken.
    pub(super) gone: CancellationToken,
    /// Fires when the request is cancelled, also because the connection was there for it alone and ends.
    pub(super) cancelled: CancellationToken,
}

/// Watches the nested calls of one cell, from its `exec` to its last `wait`.
#[derive(Default)]
pub(super) struct CellProgress {
    started: AtomicUsize,
    finished: AtomicUsize,
    /// Who listens now: between two requests nobody does.
    messages: Mutex<Option<mpsc::Sender<String>>>,
}

impl CellProgress {
    /// What is said from now on; an earlier listener hears no more.
    pub(super) fn listen(&self) -> mpsc::Receiver<String> {
        let (sender, receiver) = mpsc::channel(MAX_WAITING_MESSAGES);
        *self.messages.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// Says something of its own, such as what an upstream server reports.
    pub(super) fn say(&self, message: String) {
        if let Some(messages) = &*self.messages.lock().unwrap_or_else(PoisonError::into_inner) {
            // Full means that the caller reads slowly; closed, that nobody listens.
            let _dropped = messages.try_send(message);
        }
    }

    fn summary(&self) -> String {
        let finished = self.finished.load(Ordering::Relaxed);
        let running = self.started.load(Ordering::Relaxed).saturating_sub(finished);
        format!("{finished} calls done, {running} running")
    }
}

impl Observer for CellProgress {
    fn hears_progress(&self) -> bool {
        self.messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .is_some_and(|messages| !messages.is_closed())
    }

    fn call_progress(&self, call: &NestedCall, message: &str) {
        self.say(format!("{}: {message}", call.tool));
    }

    fn call_started(&self, call: &NestedCall) {
        self.started.fetch_add(1, Ordering::Relaxed);
        self.say(format!("{} started ({})", call.tool, self.summary()));
    }

    fn call_finished(&self, call: &NestedCall, end: &CallEnd<'_>) {
        self.finished.fetch_add(1, Ordering::Relaxed);
        let ended = match end.outcome {
            CallOutcome::Ok => "finished",
            CallOutcome::ToolError | CallOutcome::Failed => "failed",
        };
        self.say(format!(
            "{} {ended} after {} ms ({})",
            call.tool,
            end.took.as_millis(),
            self.summary()
        ));
    }
}

/// A cell between two requests.
#[derive(Clone)]
pub(super) struct WaitingCell {
    /// On whose behalf it runs.
    pub(super) caller: Caller,
    pub(super) progress: Arc<CellProgress>,
}

/// The suspended cells of one caller by their `runId`, newest last.
#[derive(Default)]
pub(super) struct WaitingCells(Mutex<VecDeque<(String, WaitingCell)>>);

impl WaitingCells {
    /// The cell that these arguments of `wait` name.
    pub(super) fn of(&self, arguments: &Value) -> Option<WaitingCell> {
        let run_id = named_run(arguments)?;
        let cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cells = cells.iter();
        let (_, cell) = cells.find(|(known, _)| known == run_id)?;
        Some(cell.clone())
    }

    /// Keeps a cell that waits, and forgets one that has ended.
    pub(super) fn note(&self, cell: &CellResult, caller: &Caller, progress: &Arc<CellProgress>) {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cells.retain(|(_, known)| !Arc::ptr_eq(&known.progress, progress));
        if let Some(run_id) = cell.run_id() {
            let waiting = WaitingCell {
                caller: caller.clone(),
                progress: Arc::clone(progress),
            };
            cells.push_back((run_id.to_owned(), waiting));
        }
        if cells.len() > MAX_WAITING_CELLS {
            cells.pop_front();
        }
    }
}

/// Runs `work` and meanwhile passes on what `progress` says, at least once a second.
///
/// Nothing is sent after the work is done: the last notification has left before this returns.
pub(super) async fn narrate<T>(
    work: impl Future<Output = T>,
    progress: &CellProgress,
    mut messages: mpsc::Receiver<String>,
    listener: Option<Listener>,
) -> T {
    let Some(listener) = listener else {
        // Closed before the work starts: what nobody hears is not asked for.
        drop(messages);
        return work.await;
    };
    let done = CancellationToken::new();
    let tell = async {
        let begun = Instant::now();
        let mut heartbeat = interval_at(begun + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut count = 0.0;
        // What was said before the end is still told; what a suspended cell says after it is for the next request.
        let mut left = None;
        loop {
            let message = tokio::select! {
                biased;
                () = done.cancelled(), if left.is_none() => { left = Some(messages.len()); continue }
                () = std::future::ready(()), if left == Some(0) => break,
                Some(message) = messages.recv() => { heartbeat.reset(); message }
                _ = heartbeat.tick() => format!("running for {} s ({})", begun.elapsed().as_secs(), progress.summary()),
            };
            left = left.map(|left| left.saturating_sub(1));
            count += 1.0;
            let notification =
                ProgressNotificationParam::new(listener.token.clone(), count).with_message(message);
            let sent = tokio::select! {
                sent = listener.peer.notify_progress(notification) => sent.is_ok(),
                () = listener.gone.cancelled() => false,
                () = listener.cancelled.cancelled() => false,
            };
            if !sent {
                break;
            }
        }
    };
    let work = async {
        let result = work.await;
        done.cancel();
        result
    };
    tokio::join!(work, tell).0
}
