//! When and after what wait a request is tried again.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How often and how patiently a request is tried again: after 408, 409, 429, 5xx, a failed connection, and one that
/// broke before the first event. Never after the first event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Most tries after the first.
    pub most: u32,
    /// The wait before the second try; it doubles with each, up to 8 seconds. A quarter of it is left to chance.
    pub first_wait: Duration,
    /// The longest wait that a provider may ask for. One who asks for more is not waited for at all.
    pub max_wait: Duration,
}

impl Default for Retries {
    /// Two more tries, half a second, one minute.
    fn default() -> Self {
        Self {
            most: 2,
            first_wait: Duration::from_millis(500),
            max_wait: Duration::from_secs(60),
        }
    }
}

const MAX_BACK_OFF: Duration = Duration::from_secs(8);

impl Retries {
    /// The wait after try number `attempts`, or `None` when that was the last.
    pub(crate) fn wait(&self, attempts: u32, asked: Option<Duration>) -> Option<Duration> {
        if attempts > self.most {
            return None;
        }
        if let Some(asked) = asked {
            return (asked <= self.max_wait).then_some(asked);
        }
        let doubled = 1_u32.checked_shl(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
        let whole = self.first_wait.saturating_mul(doubled).min(MAX_BACK_OFF);
        let chance = u32::from(RandomState::new().hash_one(attempts).to_le_bytes()[0]);
        Some(whole - whole / 1024 * chance)
    }
}

pub(crate) fn retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// How long a provider asks to wait: in milliseconds, in seconds, or until a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let number = |text: &str| text.parse::<f64>().ok();
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim().to_owned());
    if let Some(millis) = text("retry-after-ms").as_deref().and_then(number) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let text = text(RETRY_AFTER.as_str())?;
    match number(&text) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => Some(
            httpdate::parse_http_date(&text)
                .ok()?
                .duration_since(now)
                .unwrap_or_default(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_in_every_spelling() {
        let now = SystemTime::UNIX_EPOCH;
        for (name, value, expected) in [
            ("retry-after-ms", "1500", Some(Duration::from_millis(1500))),
            ("retry-after", "2", Some(Duration::from_secs(2))),
            (
                "retry-after",
                "Thu, 01 Jan 1970 00:00:30 GMT",
                Some(Duration::from_secs(30)),
            ),
            ("retry-after", "-1", None),
            ("retry-after", "soon", None),
            ("retry-after", "inf", None),
        ] {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
            assert_eq!(retry_after(&headers, now), expected, "{name}: {value}");
        }
    }

    #[test]
    fn waits_grow_and_end() {
        let retries = Retries::default();
        assert_eq!(retries.wait(3, None), None);
        assert_eq!(
            retries.wait(1, Some(Duration::from_secs(60))),
            Some(Duration::from_secs(60))
        );
        assert_eq!(retries.wait(1, Some(Duration::from_secs(61))), None);
        let second = retries.wait(2, None).unwrap();
        assert!((750..=1000).contains(&second.as_millis()), "{second:?}");
    }
}
