use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use crate::dispatch::{Dispatcher, Mode, Settled};
use crate::guest::{Fault, Guest, OutputFull, Stop, WallHost};
use crate::host::{Notice, NoticeKind, ToolHost};
use crate::{Answer, Call, CallId, Cell, Json, Output, OutputLog, Outside, Reply, Report, Request, Thrown};

/// How long calls that the program left behind may go on after it returned.
const LEFTOVER_GRACE: Duration = Duration::from_secs(2);

/// Upper bound of the time that must be left for a guest to be resumed; with less, the run is parked instead, so
/// that a program which only waits does not end as a `timeout` by a hair.
const RESUME_MARGIN: Duration = Duration::from_millis(20);

/// Failed calls remembered for the sake of warnings.
const MAX_FAILURES_KEPT: usize = 256;

/// The limits of one run that the wall keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallLimits {
    /// Budget of each result in bytes of JSON: value, output and error together.
    pub output_bytes: usize,
    /// Calls that may run at once.
    pub running_calls: usize,
}

/// Whether the calls of a cell may start before they are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// Calls start as the guest makes them and are drained inside the same result.
    Ordinary,
    /// Every call must be replay-safe, and each step hands control back to the caller.
    SafeOnly,
}

/// How a stretch of execution ended.
#[derive(Debug, PartialEq)]
#[must_use]
pub enum Leg {
    /// The program returned and nothing of it is left.
    Completed {
        /// The returned value.
        value: Json,
        /// What the caller should know beside the value.
        notices: Vec<Notice>,
    },
    /// The program threw.
    Failed(Thrown),
    /// The program waits: suspend the VM and resume later.
    Parked(Parking),
    /// The program waits for a promise that nothing can settle.
    Stuck,
    /// The value, the output or both do not fit the budget.
    OutputLimit,
    /// A call was refused because the cell is restart-safe.
    Refused(String),
    /// The VM ended without an answer.
    Faulted(Fault),
}

/// Why a run waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parking {
    /// For calls or timers that were not done before the deadline, or for calls that are all [`Outside`].
    PendingTools,
    /// Because it said so with `yield_control`, and for nothing else.
    Yield,
}

/// What a parked run has to offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Wake {
    /// There is something to deliver: restore the VM.
    Ready,
    /// Nothing came before the deadline: stay parked.
    NotYet,
    /// The caller cancelled.
    Cancelled,
}

/// The host's side of one run: its outstanding calls, its output, and the loop that drives its guest.
///
/// It outlives the VM: calls go on while the run is suspended, and their answers wait here. Dropping it cancels
/// whatever is outstanding.
pub struct Wall {
    shared: Arc<Mutex<Shared>>,
    host: Arc<dyn ToolHost>,
    replay: Replay,
    outside: Outside,
    settled: UnboundedReceiver<Settled>,
    /// Settled while the VM was away, in settlement order.
    ready: Vec<Settled>,
    notices: Vec<Notice>,
    failures: Vec<FailedCall>,
}

struct Shared {
    dispatcher: Dispatcher,
    output: OutputLog,
}

struct FailedCall {
    tool: Option<String>,
    position: Option<(u32, u32)>,
    error: Thrown,
}

impl Wall {
    /// A wall for one run, whose calls `host` notes in `outside` while they are there. Must be called on the runtime
    /// that is to carry the run's calls.
    #[must_use]
    pub fn new(host: Arc<dyn ToolHost>, limits: WallLimits, replay: Replay, outside: Outside) -> Self {
        let mode = match replay {
            Replay::Ordinary => Mode::Eager,
            Replay::SafeOnly => Mode::Held,
        };
        let (dispatcher, settled) = Dispatcher::new(Arc::clone(&host), limits.running_calls, mode);
        let output = OutputLog::new(limits.output_bytes);
        Self {
            shared: Arc::new(Mutex::new(Shared { dispatcher, output })),
            host,
            replay,
            outside,
            settled,
            ready: Vec::new(),
            notices: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// The port through which a VM of this run talks to the host.
    #[must_use]
    pub fn port(&self) -> Box<dyn WallHost> {
        Box::new(Port {
            shared: Arc::clone(&self.shared),
            host: Arc::clone(&self.host),
        })
    }

    /// Starts the cell in a fresh VM and drives it as far as it gets.
    pub async fn start<G: Guest>(&mut self, guest: &mut G, cell: &Cell, stop: &Stop) -> Leg {
        let report = guest.eval(cell, stop).await;
        self.drive(guest, report, stop).await
    }

    /// Goes on with a run whose VM was restored: answers its yields and everything that has settled meanwhile.
    pub async fn resume<G: Guest>(&mut self, guest: &mut G, stop: &Stop) -> Leg {
        let mut replies = Vec::new();
        for call in self.lock().dispatcher.take_yields() {
            replies.push(Reply {
                id: call.id,
                answer: Answer::Ok(yield_answer(&call)),
            });
        }
        self.collect_settled();
        let ready = std::mem::take(&mut self.ready);
        replies.extend(ready.into_iter().filter_map(|settled| self.reply(settled)));
        let report = guest.settle(&replies, stop).await;
        self.drive(guest, report, stop).await
    }

    /// Waits until a parked run has something to deliver.
    pub async fn wake(&mut self, stop: &Stop) -> Wake {
        let yielded = self
            .lock()
            .dispatcher
            .outstanding()
            .any(|call| matches!(call.request, Request::Yield { .. }));
        self.collect_settled();
        if yielded || !self.ready.is_empty() {
            return Wake::Ready;
        }
        let deadline = park_time(stop);
        tokio::select! {
            biased;
            () = stop.cancel.cancelled() => Wake::Cancelled,
            settled = self.settled.recv() => {
                self.ready.extend(settled);
                Wake::Ready
            }
            () = tokio::time::sleep_until(deadline) => Wake::NotYet,
        }
    }

    /// What the run waits for, oldest first.
    #[must_use]
    pub fn outstanding(&self) -> Vec<Call> {
        self.lock().dispatcher.outstanding().cloned().collect()
    }

    /// Tool calls made since the run began.
    #[must_use]
    pub fn calls_made(&self) -> usize {
        self.lock().dispatcher.total()
    }

    /// Hands out the output of the result that is being made, with the budget left for an error text.
    #[must_use]
    pub fn take_output(&self) -> TakenOutput {
        let mut shared = self.lock();
        let left_out = shared.output.left_out();
        let limit = shared.output.limit();
        let entries = shared.output.take();
        TakenOutput {
            entries,
            left_out,
            limit,
        }
    }

    /// Cuts an error text to what the output has left of the budget.
    #[must_use]
    pub fn fit_error(&self, text: String) -> String {
        self.lock().output.fit_error(text)
    }

    async fn drive<G: Guest>(&mut self, guest: &mut G, first: Result<Report, Fault>, stop: &Stop) -> Leg {
        let mut report = first;
        loop {
            match report {
                Ok(Report::Pending) => {}
                Ok(Report::Completed { value }) => return self.finish(guest, value, stop).await,
                Ok(Report::Failed { error }) => return Leg::Failed(error),
                Ok(Report::Idle) => {
                    return Leg::Faulted(Fault::Engine("the guest lost its program".into()));
                }
                Err(Fault::Output) => return Leg::OutputLimit,
                Err(fault) => return Leg::Faulted(fault),
            }
            if let Some(leg) = self.park_now() {
                return leg;
            }
            let replies = match self.next_replies(stop, Patience::WhileInside).await {
                Next::Replies(replies) => replies,
                Next::Park => return Leg::Parked(Parking::PendingTools),
                Next::Cancelled => return Leg::Faulted(Fault::Cancelled),
            };
            // A program whose calls never wait would keep its thread for itself.
            tokio::task::coop::consume_budget().await;
            report = guest.settle(&replies, stop).await;
        }
    }

    /// Whether a program that has nothing to do right now must be handed back to the caller at once.
    fn park_now(&mut self) -> Option<Leg> {
        let mut shared = self.lock();
        let held = shared.dispatcher.held();
        if !held.is_empty() {
            if let Err(refusal) = self.host.check_replay(&held) {
                return Some(Leg::Refused(refusal));
            }
            shared.dispatcher.release();
            return Some(Leg::Parked(Parking::PendingTools));
        }
        let yields = shared
            .dispatcher
            .outstanding()
            .filter(|call| matches!(call.request, Request::Yield { .. }))
            .count();
        let all = shared.dispatcher.outstanding().count();
        if all == 0 {
            return Some(Leg::Stuck);
        }
        if yields == all {
            return Some(Leg::Parked(Parking::Yield));
        }
        let handed_back = yields > 0 || self.replay == Replay::SafeOnly;
        handed_back.then_some(Leg::Parked(Parking::PendingTools))
    }

    /// Waits for the next answers. One that comes too late to be used stays here for the resume.
    async fn next_replies(&mut self, stop: &Stop, patience: Patience) -> Next {
        let deadline = park_time(stop);
        let mut in_vain = false;
        loop {
            // Most answers are there already: the guest's calls ran while it did.
            if stop.cancel.is_cancelled() {
                return Next::Cancelled;
            }
            if tokio::time::Instant::now() >= deadline {
                return Next::Park;
            }
            self.collect_settled();
            let ready = std::mem::take(&mut self.ready);
            let replies: Vec<Reply> = ready
                .into_iter()
                .filter_map(|settled| self.reply(settled))
                .collect();
            if !replies.is_empty() {
                return Next::Replies(replies);
            }
            if in_vain {
                return Next::Park;
            }
            let all_outside = self
                .outside
                .until(|calls| lock(&self.shared).dispatcher.waits_only_for(calls));
            tokio::select! {
                biased;
                () = stop.cancel.cancelled() => return Next::Cancelled,
                () = tokio::time::sleep_until(deadline) => return Next::Park,
                settled = self.settled.recv() => self.ready.extend(settled),
                () = all_outside, if patience == Patience::WhileInside => in_vain = true,
            }
        }
    }

    /// Lets the calls that the program left behind end, cancels the rest, and collects what went wrong unseen.
    async fn finish<G: Guest>(&mut self, guest: &mut G, value: Json, stop: &Stop) -> Leg {
        let until = stop.deadline.min(Instant::now() + LEFTOVER_GRACE);
        let grace = Stop {
            deadline: until,
            cancel: stop.cancel.clone(),
        };
        loop {
            {
                let mut shared = self.lock();
                shared.dispatcher.drop_timers();
                let _ = shared.dispatcher.take_yields();
                // A call that nobody awaits is a call all the same.
                let held = shared.dispatcher.held();
                if !held.is_empty()
                    && let Err(refusal) = self.host.check_replay(&held)
                {
                    return Leg::Refused(refusal);
                }
                shared.dispatcher.release();
                if shared.dispatcher.is_idle() {
                    break;
                }
            }
            let replies = match self.next_replies(&grace, Patience::UntilDeadline).await {
                Next::Replies(replies) => replies,
                Next::Park => break,
                Next::Cancelled => return Leg::Faulted(Fault::Cancelled),
            };
            match guest.settle(&replies, stop).await {
                Ok(_) => {}
                Err(Fault::Output) => return Leg::OutputLimit,
                Err(fault) => return Leg::Faulted(fault),
            }
        }
        self.cancel_leftovers();
        match guest.unhandled(stop).await {
            Ok(rejections) => self.note_unhandled(rejections),
            Err(Fault::Output) => return Leg::OutputLimit,
            Err(fault) => return Leg::Faulted(fault),
        }
        if self.lock().output.admit_value(&value).is_err() {
            return Leg::OutputLimit;
        }
        Leg::Completed {
            value,
            notices: std::mem::take(&mut self.notices),
        }
    }

    fn cancel_leftovers(&mut self) {
        let left: Vec<CallId> = self.lock().dispatcher.outstanding().map(|call| call.id).collect();
        for id in left {
            let withdrawn = self.lock().dispatcher.withdraw(id);
            if let Some(call) = withdrawn {
                self.notices.push(Notice {
                    kind: NoticeKind::Cancelled,
                    tool: call.request.target(),
                    message:
                        "the call was still running when the program ended, and was cancelled; its effect \
                              is unknown"
                            .into(),
                    position: position(&call),
                });
            }
        }
    }

    /// Turns unhandled rejections into notices; one that is the failure of a call names the tool.
    fn note_unhandled(&mut self, rejections: Vec<Thrown>) {
        for thrown in rejections {
            let failed = self
                .failures
                .iter()
                .position(|failed| same_error(&failed.error, &thrown));
            let notice = match failed.map(|at| self.failures.swap_remove(at)) {
                Some(failed) => Notice {
                    kind: NoticeKind::UnawaitedFailure,
                    tool: failed.tool,
                    message: failed.error.message,
                    position: failed.position,
                },
                None => Notice {
                    kind: NoticeKind::UnhandledRejection,
                    tool: None,
                    position: thrown.frames.first().map(|frame| (frame.line, frame.column)),
                    message: format!("{}: {}", thrown.name, thrown.message),
                },
            };
            self.notices.push(notice);
        }
    }

    /// The reply for something that settled; none if the guest no longer waits for it.
    fn reply(&mut self, settled: Settled) -> Option<Reply> {
        let Settled { call, outcome } = settled;
        let call = self.lock().dispatcher.deliver(&call)?;
        if let Some(mut warning) = outcome.warning {
            warning.position = warning.position.or_else(|| position(&call));
            self.notices.push(warning);
        }
        if let Answer::Error(error) = &outcome.answer
            && self.failures.len() < MAX_FAILURES_KEPT
        {
            self.failures.push(FailedCall {
                tool: call.request.target(),
                position: position(&call),
                error: error.clone(),
            });
        }
        Some(Reply {
            id: call.id,
            answer: outcome.answer,
        })
    }

    fn collect_settled(&mut self) {
        while let Ok(settled) = self.settled.try_recv() {
            self.ready.push(settled);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }
}

/// What [`Wall::take_output`] hands out.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenOutput {
    /// The entries, with a marker at the end if something was left out.
    pub entries: Vec<Output>,
    /// Bytes that were left out.
    pub left_out: usize,
    /// The budget of a result in bytes.
    pub limit: usize,
}

/// How long to wait for answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// As long as somebody here can give one.
    WhileInside,
    /// To the end, whoever is asked.
    UntilDeadline,
}

enum Next {
    Replies(Vec<Reply>),
    Park,
    Cancelled,
}

/// The guest-side end of a [`Wall`].
struct Port {
    shared: Arc<Mutex<Shared>>,
    host: Arc<dyn ToolHost>,
}

impl WallHost for Port {
    fn query(&mut self, question: &str) -> Result<String, Thrown> {
        self.host.query(question)
    }

    fn call(&mut self, call: Call) -> Result<(), Thrown> {
        let start = lock(&self.shared).dispatcher.accept(call)?;
        if let Some(start) = start {
            start.here();
        }
        Ok(())
    }

    fn withdraw(&mut self, id: CallId) {
        lock(&self.shared).dispatcher.withdraw(id);
    }

    fn output(&mut self, output: Output) -> Result<(), OutputFull> {
        lock(&self.shared).output.push(output)
    }

    fn overflow(&mut self, head: String, more: usize) {
        lock(&self.shared).output.overflow(head, more);
    }
}

/// A poisoned lock only means that another thread panicked between two consistent states.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The moment from which a waiting program is parked rather than resumed.
fn park_time(stop: &Stop) -> tokio::time::Instant {
    let left = stop.deadline.saturating_duration_since(Instant::now());
    let margin = RESUME_MARGIN.min(left / 10);
    tokio::time::Instant::from_std(stop.deadline.checked_sub(margin).unwrap_or(stop.deadline))
}

fn position(call: &Call) -> Option<(u32, u32)> {
    Some((call.line?, call.column.unwrap_or(1)))
}

fn same_error(sent: &Thrown, seen: &Thrown) -> bool {
    sent.message == seen.message && sent.code == seen.code
}

/// What `yield_control` resolves to.
fn yield_answer(call: &Call) -> Json {
    let reason = match &call.request {
        Request::Yield { reason } => reason.as_deref(),
        _ => None,
    };
    Json::from(serde_json::json!({ "status": "yielded", "reason": reason }))
}
