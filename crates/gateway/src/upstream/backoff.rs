use std::time::Duration;

/// Wait before the first restart: a server that was killed by hand is back before anyone notices.
const FIRST: Duration = Duration::from_millis(100);

/// The second wait and the start of the doubling.
const SECOND: Duration = Duration::from_secs(1);

/// The longest wait between attempts in the background.
const LONGEST: Duration = Duration::from_secs(300);

/// A connection that lasted this long was a good one, and the next end starts from the first wait again.
pub(super) const GOOD_UPTIME: Duration = Duration::from_secs(60);

/// Waits that double, and forget only after a good while of service: a server that dies on every start is
/// never restarted in a tight loop.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(super) fn next(&mut self) -> Duration {
        let wait = match self.failures {
            0 => FIRST,
            n => SECOND
                .saturating_mul(1_u32.checked_shl(n - 1).unwrap_or(u32::MAX))
                .min(LONGEST),
        };
        self.failures = self.failures.saturating_add(1);
        wait
    }

    pub(super) fn served(&mut self, uptime: Duration) {
        if uptime >= GOOD_UPTIME {
            self.failures = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_only_uptime_resets_them() {
        let mut backoff = Backoff::default();
        let waits: Vec<u128> = (0..12).map(|_| backoff.next().as_millis()).collect();
        assert_eq!(
            waits,
            [
                100, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000
            ]
        );
        backoff.served(Duration::from_secs(59));
        assert_eq!(backoff.next(), LONGEST);
        backoff.served(GOOD_UPTIME);
        assert_eq!(backoff.next(), FIRST);
        backoff.failures = u32::MAX;
        assert_eq!(backoff.next(), LONGEST);
    }
}
