//! When a list of tools is read again: no server sets the pace.
use std::time::Duration;

use tokio::time::Instant;

/// Pause before a changed list is read, because servers announce a batch of changes one by one. It doubles as long
/// as the announcements do not stop.
const SETTLE: Duration = Duration::from_millis(50);
const LONGEST_SETTLE: Duration = Duration::from_secs(30);

/// A list that was read this long ago without an announcement since has come to rest.
const QUIET: Duration = Duration::from_secs(5);

/// Wait before a list that could not be read is asked for again. It doubles with every failure.
const FIRST_RETRY: Duration = Duration::from_secs(5);
const LONGEST_RETRY: Duration = Duration::from_secs(300);

/// Bounds for reading a list again when the server says how long it is good for.
const LEAST_TTL: Duration = Duration::from_secs(60);
const LONGEST_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// The pace of one connection.
#[derive(Debug)]
pub(super) struct Pace {
    settle: Duration,
    retry: Duration,
    read: Instant,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            settle: SETTLE,
            retry: FIRST_RETRY,
            read: now,
        }
    }

    /// How long to wait for further announcements after one that came now.
    pub(super) fn announced(&mut self, now: Instant) -> Duration {
        if now.duration_since(self.read) >= QUIET {
            self.settle = SETTLE;
        }
        let wait = self.settle;
        self.settle = (wait * 2).min(LONGEST_SETTLE);
        wait
    }

    /// How long a list that was read to its end just now is good for, if the server says so.
    pub(super) fn read(&mut self, now: Instant, ttl: Option<Duration>) -> Option<Duration> {
        self.read = now;
        self.retry = FIRST_RETRY;
        ttl.map(|ttl| ttl.clamp(LEAST_TTL, LONGEST_TTL))
    }

    /// When to ask again for a list that could not be read just now.
    pub(super) fn failed(&mut self, now: Instant) -> Duration {
        self.read = now;
        let wait = self.retry;
        self.retry = (wait * 2).min(LONGEST_RETRY);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn pauses_double_while_a_list_keeps_changing_and_are_short_again_after_a_rest() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        let mut wait = || {
            pace.read(now, None);
            pace.announced(now + QUIET - Duration::from_millis(1))
        };
        let waits: Vec<u128> = (0..12).map(|_| wait().as_millis()).collect();
        assert_eq!(
            waits,
            [
                50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000
            ]
        );
        assert_eq!(pace.announced(now + QUIET), SETTLE);
    }

    #[test]
    fn retries_double_and_a_list_that_is_read_resets_them() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        let waits: Vec<u64> = (0..8).map(|_| pace.failed(now).as_secs()).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 300, 300]);
        pace.read(now, None);
        assert_eq!(pace.failed(now), FIRST_RETRY);
    }

    #[test]
    fn a_server_may_say_how_long_its_list_is_good_for_within_bounds() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        for (ttl, expected) in [
            (None, None),
            (Some(Duration::from_millis(1)), Some(LEAST_TTL)),
            (Some(seconds(600)), Some(seconds(600))),
            (Some(Duration::MAX), Some(LONGEST_TTL)),
        ] {
            assert_eq!(pace.read(now, ttl), expected);
        }
    }
}
