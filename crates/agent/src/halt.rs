use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::event::Stop;

/// How long a model or a call that was told to stop is waited for. What it still says by then counts.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// What ends a turn before its model does: the caller, the clock, or the turn itself when it cannot go on.
///
/// All of them come as one token, so that whatever is under way has one thing to look at.
pub(crate) struct Halt {
    token: CancellationToken,
    limit: Option<Duration>,
    out_of_time: AtomicBool,
    /// Whether the turn waits for the application, which stops the clock.
    waiting: watch::Sender<bool>,
}

impl Halt {
    pub(crate) fn new(cancel: &CancellationToken, limit: Option<Duration>) -> Self {
        Self {
            token: cancel.child_token(),
            limit,
            out_of_time: AtomicBool::new(false),
            waiting: watch::Sender::new(false),
        }
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Why the turn has to stop, if it has to.
    pub(crate) fn stop(&self) -> Option<Stop> {
        if !self.token.is_cancelled() {
            return None;
        }
        let limit = self.limit.filter(|_| self.out_of_time.load(Ordering::Relaxed));
        Some(limit.map_or(Stop::Aborted, |limit| {
            Stop::Limit(format!(
                "the turn took longer than its limit of {limit:?}: raise `timeoutSeconds` to allow more"
            ))
        }))
    }

    /// Ends the turn from within: the one who says so knows why.
    pub(crate) fn give_up(&self) {
        self.token.cancel();
    }

    /// The turn begins to wait for the application, or goes on.
    pub(crate) fn wait(&self, waiting: bool) {
        self.waiting.send_replace(waiting);
    }

    /// Counts the time and returns when it is up.
    pub(crate) async fn tick(&self) {
        let Some(mut left) = self.limit else {
            return std::future::pending().await;
        };
        let mut waiting = self.waiting.subscribe();
        loop {
            let since = Instant::now();
            tokio::select! {
                biased;
                // The sender is in `self`, so both waits end by what they wait for.
                _ = waiting.wait_for(|waits| *waits) => left = left.saturating_sub(since.elapsed()),
                () = sleep(left) => break,
            }
            let _ = waiting.wait_for(|waits| !*waits).await;
        }
        if !self.token.is_cancelled() {
            self.out_of_time.store(true, Ordering::Relaxed);
            self.token.cancel();
        }
    }

    /// Ends [`GRACE`] after the turn had to stop.
    pub(crate) async fn grace(&self) {
        self.token.cancelled().await;
        sleep(GRACE).await;
    }
}
