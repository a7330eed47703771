//! The beginning of a call.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::unconstrained;
use tokio_util::sync::CancellationToken;

use crate::dispatch::Settled;
use crate::{Answer, BoxFuture, Call, Json, Outcome, Request, Thrown, ToolHost};

/// Longest delay of a timer: beyond it `setTimeout` wraps round in every engine, which helps nobody.
const MAX_TIMER: Duration = Duration::from_millis(i32::MAX as u64);

/// How long a cancelled call may take to tell its tool so before it is dropped.
const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// A call that was taken from the guest and does not run yet.
#[must_use]
pub(crate) struct Start {
    pub(crate) host: Arc<dyn ToolHost>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) runtime: Handle,
    pub(crate) settled: mpsc::UnboundedSender<Settled>,
    pub(crate) cancel: CancellationToken,
    pub(crate) call: Call,
}

impl Start {
    /// Runs the call here as far as it gets without waiting, and the rest on the caller's runtime. A call that needs no
    /// waiting thus costs no way to another thread and back, and calls queue for their slots in the order in which they
    /// were made.
    pub(crate) fn here(self) {
        let mut carried = self.carried();
        let first = {
            let _callers = self.runtime.enter();
            // The task that polls the guest has spent its own share by now, which says nothing about the tool.
            pin!(unconstrained(&mut carried)).poll(&mut Context::from_waker(Waker::noop()))
        };
        match first {
            Poll::Ready(outcome) => self.settle(outcome),
            Poll::Pending => self.go_on(carried),
        }
    }

    /// Runs the call on the caller's runtime from its beginning.
    pub(crate) fn elsewhere(self) {
        let carried = self.carried();
        self.go_on(carried);
    }

    fn carried(&self) -> Contained {
        let (host, slots) = (Arc::clone(&self.host), Arc::clone(&self.slots));
        let (call, cancel) = (self.call.clone(), self.cancel.clone());
        Contained(Box::pin(carry(host, slots, call, cancel)))
    }

    fn go_on(self, mut carried: Contained) {
        let runtime = self.runtime.clone();
        runtime.spawn(async move {
            let outcome = tokio::select! {
                biased;
                outcome = &mut carried => outcome,
                () = self.cancel.cancelled() => {
                    let _ = tokio::time::timeout(CANCEL_GRACE, carried).await;
                    return;
                }
            };
            self.settle(outcome);
        });
    }

    fn settle(self, outcome: Outcome) {
        let call = self.call;
        // The receiver is gone only when the run is, and then nobody wants the answer.
        let _ = self.settled.send(Settled { call, outcome });
    }
}

/// Turns a panic into an answer: a guest must not wait for a call that nobody carries any more.
struct Contained(BoxFuture<Outcome>);

impl Future for Contained {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context)));
        polled.unwrap_or_else(|_| {
            let message = "the call crashed; its effect is unknown";
            Poll::Ready(Answer::Error(Thrown::error("internal_error", message)).into())
        })
    }
}

/// Carries one call: a timer sleeps, everything else waits for a slot and then goes to the host.
async fn carry(
    host: Arc<dyn ToolHost>,
    slots: Arc<Semaphore>,
    call: Call,
    cancel: CancellationToken,
) -> Outcome {
    if let Request::Timer { ms } = call.request {
        tokio::select! {
            () = tokio::time::sleep(timer_delay(ms)) => {}
            () = cancel.cancelled() => {}
        }
        return Answer::Ok(Json::null()).into();
    }
    let slot = tokio::select! {
        biased;
        slot = slots.acquire_owned() => slot,
        () = cancel.cancelled() => return Answer::Error(Thrown::error("aborted", "the call was cancelled")).into(),
    };
    match slot {
        Ok(_slot) => host.call(call, cancel).await,
        Err(_closed) => Answer::Error(Thrown::error("aborted", "the run has ended")).into(),
    }
}

/// The delay of a timer. Whatever is no positive number counts as zero, as in every JavaScript host.
pub(crate) fn timer_delay(ms: f64) -> Duration {
    if ms.is_nan() || ms <= 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(ms / 1000.0).map_or(MAX_TIMER, |delay| delay.min(MAX_TIMER))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MAX_TIMER, timer_delay};

    #[test]
    fn odd_delays_are_zero_or_bounded() {
        let cases = [
            (f64::NAN, Duration::ZERO),
            (-5.0, Duration::ZERO),
            (0.5, Duration::from_micros(500)),
            (1e300, MAX_TIMER),
            (f64::INFINITY, MAX_TIMER),
        ];
        for (ms, expected) in cases {
            assert_eq!(timer_delay(ms), expected, "{ms}");
        }
    }
}
