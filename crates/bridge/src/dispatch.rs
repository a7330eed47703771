use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::start::{Start, timer_delay};
use crate::{Call, CallId, Outcome, Request, Thrown, ToolHost};

/// Calls that may wait for a free slot. Beyond it the call itself is rejected: a program that starts thousands of
/// calls has lost count of them.
pub const MAX_QUEUED_CALLS: usize = 1024;

/// Timers of one run that may be outstanding at once.
pub const MAX_TIMERS: usize = 1024;

/// Yields of one run that may be outstanding at once. What the host keeps of one can be more than it costs the guest.
pub const MAX_YIELDS: usize = 1024;

/// Calls of one run from its start to its end, so that a loop of calls ends although each of them is quick.
pub const MAX_CALLS_PER_RUN: usize = 10_000;

/// When calls are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As soon as the guest makes them.
    Eager,
    /// Only after all calls of the step were judged; see [`Dispatcher::release`].
    Held,
}

/// A call that has ended.
pub(crate) struct Settled {
    pub(crate) call: Call,
    pub(crate) outcome: Outcome,
}

/// Starts the calls of one run, a bounded number at a time, and collects how they end.
///
/// Calls live on the caller's runtime and go on while the run is suspended.
pub(crate) struct Dispatcher {
    host: Arc<dyn ToolHost>,
    runtime: Handle,
    slots: Arc<Semaphore>,
    max_running: usize,
    mode: Mode,
    outstanding: BTreeMap<CallId, Outstanding>,
    /// The outstanding timers, by the time at which they are due.
    timers: BTreeSet<(Instant, CallId)>,
    /// Up to which time timers are known to be due.
    rung: Option<Instant>,
    yields: usize,
    total: usize,
    settled: mpsc::UnboundedSender<Settled>,
    cancel: CancellationToken,
}

struct Outstanding {
    call: Call,
    state: State,
    /// When a timer is due.
    due: Option<Instant>,
}

enum State {
    /// Taken from the guest, not started.
    Held,
    /// Running, or queued for a slot.
    Started(CancellationToken),
    /// A yield: answered by the resume itself.
    Yielded,
}

impl Dispatcher {
    /// Must be called on the runtime that is to carry the calls.
    pub(crate) fn new(
        host: Arc<dyn ToolHost>,
        max_running: usize,
        mode: Mode,
    ) -> (Self, mpsc::UnboundedReceiver<Settled>) {
        let (settled, receiver) = mpsc::unbounded_channel();
        let dispatcher = Self {
            host,
            runtime: Handle::current(),
            slots: Arc::new(Semaphore::new(max_running)),
            max_running,
            mode,
            outstanding: BTreeMap::new(),
            timers: BTreeSet::new(),
            rung: None,
            yields: 0,
            total: 0,
            settled,
            cancel: CancellationToken::new(),
        };
        (dispatcher, receiver)
    }

    /// Takes a call from the guest, and gives what is to be started now, if anything is.
    ///
    /// # Errors
    ///
    /// The call was not taken: too many are outstanding, or the run made too many altogether.
    pub(crate) fn accept(&mut self, call: Call) -> Result<Option<Start>, Thrown> {
        match call.request {
            Request::Yield { .. } => {
                if self.yields >= MAX_YIELDS {
                    return Err(too_many("yields", MAX_YIELDS));
                }
                self.yields += 1;
                self.outstanding.insert(
                    call.id,
                    Outstanding {
                        call,
                        state: State::Yielded,
                        due: None,
                    },
                );
                return Ok(None);
            }
            Request::Timer { ms } => {
                if self.timers.len() >= MAX_TIMERS {
                    return Err(too_many("timers", MAX_TIMERS));
                }
                return Ok(Some(self.start(call, Some(Instant::now() + timer_delay(ms)))));
            }
            Request::Call { .. } | Request::CallValue { .. } | Request::Namespace { .. } => {}
        }
        let calls = self
            .outstanding
            .len()
            .saturating_sub(self.timers.len() + self.yields);
        if calls >= self.max_running.saturating_add(MAX_QUEUED_CALLS) {
            return Err(Thrown::error(
                "queue_full",
                format!(
                    "too many pending code mode tool calls: {} may run at once and {MAX_QUEUED_CALLS} may wait; \
                     await some calls before starting more",
                    self.max_running
                ),
            ));
        }
        if self.total >= MAX_CALLS_PER_RUN {
            return Err(Thrown::error(
                "call_limit",
                format!("this run has made {MAX_CALLS_PER_RUN} tool calls, which is the limit for one run"),
            ));
        }
        self.total += 1;
        match self.mode {
            Mode::Eager => Ok(Some(self.start(call, None))),
            Mode::Held => {
                self.outstanding.insert(
                    call.id,
                    Outstanding {
                        call,
                        state: State::Held,
                        due: None,
                    },
                );
                Ok(None)
            }
        }
    }

    /// Requests that were taken but not started.
    pub(crate) fn held(&self) -> Vec<&Request> {
        self.outstanding
            .values()
            .filter(|o| matches!(o.state, State::Held))
            .map(|o| &o.call.request)
            .collect()
    }

    /// Starts every held call.
    pub(crate) fn release(&mut self) {
        let held: Vec<CallId> = self
            .outstanding
            .iter()
            .filter(|(_, o)| matches!(o.state, State::Held))
            .map(|(id, _)| *id)
            .collect();
        for id in held {
            if let Some(outstanding) = self.outstanding.remove(&id) {
                self.start(outstanding.call, None).elsewhere();
            }
        }
    }

    /// Forgets a call and tells whoever carries it to stop.
    pub(crate) fn withdraw(&mut self, id: CallId) -> Option<Call> {
        let outstanding = self.remove(id)?;
        if let State::Started(cancel) = outstanding.state {
            cancel.cancel();
        }
        Some(outstanding.call)
    }

    /// Notes that the answer to `call` is about to be delivered, and gives the call that it is delivered to: none when
    /// the call was withdrawn meanwhile.
    ///
    /// Every timer is carried for itself, so when two are due at once it is chance whose time is up first. Whichever it
    /// is: the one that was due first is delivered, as in every JavaScript host.
    pub(crate) fn deliver(&mut self, call: &Call) -> Option<Call> {
        let id = match call.request {
            Request::Timer { .. } => self.first_due(call.id)?,
            _ => call.id,
        };
        self.remove(id).map(|outstanding| outstanding.call)
    }

    /// The timer to deliver when the time of the timer `id` is up. As many times are up as timers are delivered.
    fn first_due(&mut self, id: CallId) -> Option<CallId> {
        let due = self.outstanding.get(&id).and_then(|timer| timer.due);
        self.rung = self.rung.max(due);
        let (_, first) = self.timers.first().filter(|(due, _)| Some(*due) <= self.rung)?;
        Some(*first)
    }

    /// Takes the outstanding yields, oldest first.
    pub(crate) fn take_yields(&mut self) -> Vec<Call> {
        let ids: Vec<CallId> = self
            .outstanding
            .iter()
            .filter(|(_, o)| matches!(o.state, State::Yielded))
            .map(|(id, _)| *id)
            .collect();
        ids.into_iter()
            .filter_map(|id| self.remove(id))
            .map(|o| o.call)
            .collect()
    }

    /// Takes every outstanding timer: they delay nothing once the program has ended.
    pub(crate) fn drop_timers(&mut self) {
        let timers: Vec<CallId> = self
            .outstanding
            .iter()
            .filter(|(_, o)| matches!(o.call.request, Request::Timer { .. }))
            .map(|(id, _)| *id)
            .collect();
        for id in timers {
            self.withdraw(id);
        }
    }

    /// Everything that has not been answered, oldest first.
    pub(crate) fn outstanding(&self) -> impl Iterator<Item = &Call> {
        self.outstanding.values().map(|o| &o.call)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.outstanding.is_empty()
    }

    /// Whether nothing but calls `outside` can wake the guest. Queued calls cannot while those fill every slot.
    ///
    /// Holds for a guest that has neither yielded nor held calls: it is handed back anyway.
    pub(crate) fn waits_only_for(&self, outside: &BTreeSet<CallId>) -> bool {
        // A call that was started counts although its task may not have got as far as its slot.
        let running = self.outstanding.len().min(self.max_running);
        let there = outside.iter().filter(|id| self.outstanding.contains_key(id));
        self.timers.is_empty() && running > 0 && there.count() == running
    }

    /// Calls taken from the guest since the run began, timers and yields not counted.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    fn remove(&mut self, id: CallId) -> Option<Outstanding> {
        let outstanding = self.outstanding.remove(&id)?;
        if let Some(due) = outstanding.due {
            self.timers.remove(&(due, id));
        }
        if matches!(outstanding.state, State::Yielded) {
            self.yields = self.yields.saturating_sub(1);
        }
        Some(outstanding)
    }

    /// Notes a call as started. Nothing of it runs before the caller lets it.
    fn start(&mut self, call: Call, due: Option<Instant>) -> Start {
        let cancel = self.cancel.child_token();
        let outstanding = Outstanding {
            call: call.clone(),
            state: State::Started(cancel.clone()),
            due,
        };
        self.timers.extend(due.map(|due| (due, call.id)));
        self.outstanding.insert(call.id, outstanding);
        Start {
            host: Arc::clone(&self.host),
            slots: Arc::clone(&self.slots),
            runtime: self.runtime.clone(),
            settled: self.settled.clone(),
            cancel,
            call,
        }
    }
}

fn too_many(what: &str, limit: usize) -> Thrown {
    Thrown {
        name: "RangeError".into(),
        message: format!("too many {what}: {limit} are outstanding already"),
        ..Thrown::default()
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio_util::sync::CancellationToken;

    use super::{Dispatcher, MAX_YIELDS, Mode, too_many};
    use crate::{BoxFuture, Call, CallId, Outcome, Request, Thrown, ToolHost};

    struct NeverAnswers;

    impl ToolHost for NeverAnswers {
        fn query(&self, question: &str) -> Result<String, Thrown> {
            Ok(question.to_owned())
        }

        fn check_replay(&self, _: &[&Request]) -> Result<(), String> {
            Ok(())
        }

        fn call(self: Arc<Self>, _: Call, _: CancellationToken) -> BoxFuture<Outcome> {
            Box::pin(std::future::pending())
        }
    }

    fn request(id: u32, request: Request) -> Call {
        Call {
            id: CallId(id),
            request,
            line: None,
            column: None,
        }
    }

    #[tokio::test]
    async fn timers_are_delivered_in_the_order_in_which_they_are_due() {
        let (mut dispatcher, _settled) = Dispatcher::new(Arc::new(NeverAnswers), 2, Mode::Eager);
        let delays = [(1, 9.0), (2, 5.0), (3, 5.0), (4, 1.0)];
        let timers = delays.map(|(id, ms)| request(id, Request::Timer { ms }));
        for timer in &timers {
            let _never_started = dispatcher.accept(timer.clone()).unwrap();
        }
        let mut delivered = |id: usize| dispatcher.deliver(&timers[id - 1]).map(|call| call.id.0);
        // Timer 4 was the last to be heard of, and timer 3 before timer 2.
        assert_eq!(
            [3, 2, 1, 4].map(&mut delivered),
            [Some(4), Some(2), Some(3), Some(1)]
        );
        assert_eq!(delivered(1), None);
    }

    #[tokio::test]
    async fn a_timer_that_was_withdrawn_holds_up_no_other() {
        let (mut dispatcher, _settled) = Dispatcher::new(Arc::new(NeverAnswers), 2, Mode::Eager);
        let timers = [1, 2, 3].map(|id| request(id, Request::Timer { ms: f64::from(id) }));
        for timer in &timers {
            let _never_started = dispatcher.accept(timer.clone()).unwrap();
        }
        assert_eq!(
            dispatcher.deliver(&timers[1]).map(|call| call.id),
            Some(CallId(1))
        );
        dispatcher.withdraw(CallId(2));
        // Timer 3 is not due yet.
        assert_eq!(dispatcher.deliver(&timers[0]), None);
        assert_eq!(
            dispatcher.deliver(&timers[2]).map(|call| call.id),
            Some(CallId(3))
        );
    }

    #[tokio::test]
    async fn yields_are_bounded_and_take_no_place_of_a_call() {
        let (mut dispatcher, _settled) = Dispatcher::new(Arc::new(NeverAnswers), 2, Mode::Held);
        let yields = |id| request(id, Request::Yield { reason: None });
        for id in 1..=MAX_YIELDS as u32 {
            assert!(dispatcher.accept(yields(id)).is_ok());
        }
        let refused = dispatcher.accept(yields(5_000)).err();
        assert_eq!(refused, Some(too_many("yields", MAX_YIELDS)));
        let call = request(
            6_000,
            Request::CallValue {
                target: "any".into(),
                args: None,
            },
        );
        assert!(dispatcher.accept(call).is_ok());
        assert_eq!(dispatcher.take_yields().len(), MAX_YIELDS);
        assert!(dispatcher.accept(yields(7_000)).is_ok());
    }

    #[tokio::test]
    async fn a_call_counts_as_running_before_it_has_taken_a_slot() {
        let (mut dispatcher, _settled) = Dispatcher::new(Arc::new(NeverAnswers), 2, Mode::Eager);
        let call = |id| Call {
            id: CallId(id),
            request: Request::CallValue {
                target: "any".into(),
                args: None,
            },
            line: None,
            column: None,
        };
        let first = [CallId(1)].into();
        assert!(!dispatcher.waits_only_for(&first), "there are no calls");
        dispatcher.accept(call(1)).unwrap().unwrap().here();
        assert!(dispatcher.waits_only_for(&first));
        let _not_begun = dispatcher.accept(call(2)).unwrap();
        assert!(!dispatcher.waits_only_for(&first));
        dispatcher.withdraw(CallId(2));
        assert!(dispatcher.waits_only_for(&first));
        let others = [CallId(1), CallId(2)].into();
        assert!(
            dispatcher.waits_only_for(&others),
            "a call that was withdrawn does not count"
        );
    }
}
