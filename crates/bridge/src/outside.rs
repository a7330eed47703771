use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::watch;

use crate::CallId;

/// The calls of one run that wait for somebody who only answers once the run has given a result: the application
/// that asked for it, for one.
///
/// A run that waits for nothing else is parked at once, as nothing here will wake it. Clones share the calls, and
/// two are equal if they do. Calls that enter one which no [`Wall`](crate::Wall) holds are noted for nobody, so the
/// default is of no effect.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    calls: Arc<watch::Sender<BTreeSet<CallId>>>,
}

impl Outside {
    /// Notes that a call has reached somebody outside. It counts as being there until the guard is dropped; a call
    /// enters once.
    pub fn enter(&self, call: CallId) -> OutsideGuard {
        self.calls.send_modify(|calls| {
            calls.insert(call);
        });
        OutsideGuard {
            outside: self.clone(),
            call,
        }
    }

    /// The calls that are there, in the order in which they were made.
    #[must_use]
    pub fn calls(&self) -> Vec<CallId> {
        self.calls.borrow().iter().copied().collect()
    }

    /// Waits until the calls outside are `enough`: looks now, and again after every change.
    pub(crate) async fn until(&self, enough: impl FnMut(&BTreeSet<CallId>) -> bool) {
        // Fails only when the sender is gone, and that is in here.
        let _ = self.calls.subscribe().wait_for(enough).await;
    }
}

impl PartialEq for Outside {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.calls, &other.calls)
    }
}

impl Eq for Outside {}

/// Keeps a call among those that are [`Outside`].
#[derive(Debug)]
#[must_use = "the call is back as soon as this is dropped"]
pub struct OutsideGuard {
    outside: Outside,
    call: CallId,
}

impl Drop for OutsideGuard {
    fn drop(&mut self) {
        self.outside.calls.send_modify(|calls| {
            calls.remove(&self.call);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Outside;
    use crate::CallId;

    #[test]
    fn a_call_is_outside_from_its_entry_until_its_guard_is_dropped() {
        let outside = Outside::default();
        let second = outside.enter(CallId(2));
        let first = outside.clone().enter(CallId(1));
        assert_eq!(outside.calls(), [CallId(1), CallId(2)]);
        drop(second);
        assert_eq!(outside.calls(), [CallId(1)]);
        drop(first);
        assert_eq!(outside.calls(), []);
    }

    #[tokio::test]
    async fn who_waits_for_calls_hears_of_those_that_came_before_and_after() {
        let outside = Outside::default();
        let _early = outside.enter(CallId(1));
        outside.until(|calls| calls.len() == 1).await;
        let later = async {
            tokio::task::yield_now().await;
            outside.enter(CallId(2))
        };
        let ((), _late) = tokio::join!(outside.until(|calls| calls.len() == 2), later);
    }

    #[test]
    fn those_of_two_runs_are_not_equal() {
        let outside = Outside::default();
        assert_eq!(outside, outside.clone());
        assert_ne!(outside, Outside::default());
    }
}
