//! One connection to one server: requests out, answers matched, everything else delivered.
use std::{
    collections::HashMap,
    future::pending,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    error::{CallError, Message, Phase},
    http::{Failure, Http},
    message::{self, Fields, Incoming, Outcome, RpcError},
    outbox::Refused,
    question,
    stdio::Stdio,
};
use crate::config::{Elicitation, ServerConfig};

/// How many times its own limit a request may take in all while it keeps reporting progress.
const PROGRESS_STRETCH: u32 = 10;

/// Replies and notifications over HTTP that are on their way at once, and the time one takes at most: a server that
/// asks without end and takes no answer costs no more.
const MAX_ASIDES: usize = 256;
const ASIDE_LIMIT: Duration = Duration::from_secs(10);

/// A step of a running call, as the server reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How far it is.
    pub progress: f64,
    /// How far there is to go, if known.
    pub total: Option<f64>,
    /// What it is doing.
    pub message: Option<String>,
}

/// Takes progress; called from the connection's task, so it must not block.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// A request to be made.
pub(super) struct Call<'a> {
    pub(super) method: &'a str,
    pub(super) params: Fields,
    /// HTTP headers that mirror parts of the request.
    pub(super) headers: Vec<(String, String)>,
    /// Time without any sign of life.
    pub(super) limit: Option<Duration>,
    pub(super) cancel: Option<&'a CancellationToken>,
    pub(super) progress: Option<ProgressSink>,
    /// Which era to speak; the agreed one unless said otherwise.
    pub(super) modern: Option<bool>,
    /// Whether giving up is told to the server: not allowed during the handshake.
    pub(super) courteous: bool,
}

impl<'a> Call<'a> {
    pub(super) fn new(method: &'a str, params: Fields, limit: Duration) -> Self {
        Self {
            method,
            params,
            headers: Vec::new(),
            limit: Some(limit),
            cancel: None,
            progress: None,
            modern: None,
            courteous: true,
        }
    }
}

/// Why a pending request gets no answer.
#[derive(Debug)]
pub(super) enum Interrupt {
    Closed,
    TooLarge(u64),
}

struct Pending {
    answer: oneshot::Sender<Result<Outcome, Interrupt>>,
    progress: Option<ProgressSink>,
    activity: watch::Sender<()>,
}

pub(super) enum Link {
    Stdio(Stdio),
    Http(Http),
}

/// A shared handle; the connection ends with [`Peer::stop`] or when the server ends it.
#[derive(Clone)]
pub(super) struct Peer(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) server: String,
    pub(super) link: Link,
    pub(super) limit: u64,
    /// What the server is told when it asks the user something.
    pub(super) elicitation: Elicitation,
    modern: AtomicBool,
    ids: AtomicU64,
    waiting: Mutex<HashMap<u64, Pending>>,
    closed: watch::Sender<Option<String>>,
    list_changed: mpsc::Sender<()>,
    asides: Arc<Semaphore>,
}

impl Inner {
    pub(super) fn new(config: &ServerConfig, link: Link, limit: u64, list_changed: mpsc::Sender<()>) -> Self {
        Self {
            server: config.name.clone(),
            link,
            limit,
            elicitation: config.elicitation,
            modern: AtomicBool::new(false),
            ids: AtomicU64::new(1),
            waiting: Mutex::default(),
            closed: watch::Sender::new(None),
            list_changed,
            asides: Arc::new(Semaphore::new(MAX_ASIDES)),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, Pending>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the connection for everyone who waits on it; the first reason stays.
    pub(super) fn close(&self, reason: &str) {
        let drained: Vec<Pending> = {
            let mut waiting = self.waiting();
            self.closed.send_if_modified(|slot| {
                let first = slot.is_none();
                if first {
                    *slot = Some(reason.to_owned());
                }
                first
            });
            waiting.drain().map(|(_, pending)| pending).collect()
        };
        for pending in drained {
            let _ = pending.answer.send(Err(Interrupt::Closed));
        }
    }

    pub(super) fn stderr(&self) -> String {
        match &self.link {
            Link::Stdio(stdio) => stdio.stderr.shown(),
            Link::Http(_) => String::new(),
        }
    }

    /// An answer over the limit: ends the request it belongs to, or all if that cannot be told.
    pub(super) fn oversized(&self, id: Option<u64>, actual: u64) {
        let hit: Vec<Pending> = {
            let mut waiting = self.waiting();
            match id {
                Some(id) => waiting.remove(&id).into_iter().collect(),
                None => waiting.drain().map(|(_, pending)| pending).collect(),
            }
        };
        for pending in hit {
            let _ = pending.answer.send(Err(Interrupt::TooLarge(actual)));
        }
    }

    /// Takes a message from the server.
    pub(super) fn deliver(self: &Arc<Self>, incoming: Incoming) {
        match incoming {
            Incoming::Answer {
                id: Some(id),
                outcome,
            } => {
                // Late and unasked answers have nobody waiting; that is normal after a timeout.
                if let Some(pending) = self.waiting().remove(&id) {
                    let _ = pending.answer.send(Ok(outcome));
                }
            }
            Incoming::Answer { id: None, outcome } => {
                if let Err(error) = outcome {
                    tracing::debug!(
                        server = self.server,
                        message = error.message,
                        "error for no request"
                    );
                }
            }
            Incoming::Request { id, method, params } => {
                let result = match method.as_str() {
                    "ping" => Some(json!({})),
                    // One that was not offered is refused like any other request.
                    question::ELICIT if self.elicitation != Elicitation::Decline => {
                        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
                        Some(question::answer(self.elicitation, params.as_ref()))
                    }
                    _ => None,
                };
                self.reply(message::reply(&id, &method, result));
            }
            Incoming::Notification { method, params } => self.notified(&method, params.as_deref()),
        }
    }

    fn reply(self: &Arc<Self>, text: String) {
        match &self.link {
            Link::Stdio(stdio) => stdio.outbox.tell(text),
            Link::Http(_) => self.post_aside(text),
        }
    }

    /// Sends a message whose fate does not matter; one of too many is dropped.
    fn post_aside(self: &Arc<Self>, text: String) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let Ok(place) = Arc::clone(&self.asides).try_acquire_owned() else {
            tracing::debug!(
                server = self.server,
                "a message was dropped: too many are on their way"
            );
            return;
        };
        let inner = Arc::clone(self);
        runtime.spawn(async move {
            let _place = place;
            if let Link::Http(http) = &inner.link {
                // Nobody hears of it if this takes too long.
                let _ = timeout(ASIDE_LIMIT, http.tell(text)).await;
            }
        });
    }

    /// Takes a request back that waits to be written: how many bytes wait with it, or `None` if it may have gone out.
    fn withdraw(&self, id: u64) -> Option<u64> {
        match &self.link {
            Link::Stdio(stdio) => {
                let bytes = stdio.outbox.bytes();
                stdio.outbox.withdraw(id).then_some(bytes)
            }
            Link::Http(_) => None,
        }
    }

    fn notified(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/progress" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Params {
                    progress_token: u64,
                    progress: f64,
                    total: Option<f64>,
                    message: Option<String>,
                }
                let parsed = params.and_then(|params| serde_json::from_str::<Params>(params.get()).ok());
                let Some(Params {
                    progress_token,
                    progress,
                    total,
                    message,
                }) = parsed
                else {
                    return;
                };
                let sink = {
                    let waiting = self.waiting();
                    let Some(pending) = waiting.get(&progress_token) else {
                        return;
                    };
                    pending.activity.send_replace(());
                    pending.progress.clone()
                };
                if let Some(sink) = sink {
                    sink(Progress {
                        progress,
                        total,
                        message,
                    });
                }
            }
            "notifications/tools/list_changed" => {
                // A full slot means that a refresh is due anyway.
                let _ = self.list_changed.try_send(());
            }
            _ => {}
        }
    }

    fn is_modern(&self) -> bool {
        self.modern.load(Ordering::Relaxed)
    }
}

/// Takes a request off the books when its future ends, however that happens.
struct Flight<'a> {
    inner: &'a Arc<Inner>,
    id: u64,
    courteous: bool,
    modern: bool,
}

impl Flight<'_> {
    fn landed(&mut self) {
        self.courteous = false;
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.inner.waiting().remove(&self.id);
        // What was never sent needs no cancelling, and must not wait for a reader when nobody waits for it.
        if self.inner.withdraw(self.id).is_some() || !self.courteous {
            return;
        }
        let text = message::cancelled(self.id, "the caller gave up or the time limit passed");
        match &self.inner.link {
            Link::Stdio(stdio) => stdio.outbox.tell(text),
            // Over modern HTTP, closing the response stream is the signal, and dropping the future closes it.
            Link::Http(_) if self.modern => {}
            Link::Http(_) => self.inner.post_aside(text),
        }
    }
}

impl Peer {
    pub(super) fn set_modern(&self, modern: bool) {
        self.0.modern.store(modern, Ordering::Relaxed);
    }

    pub(super) fn is_modern(&self) -> bool {
        self.0.is_modern()
    }

    pub(super) fn is_http(&self) -> bool {
        matches!(self.0.link, Link::Http(_))
    }

    /// Why the connection ended, if it has.
    pub(super) fn closed_reason(&self) -> Option<String> {
        self.0.closed.borrow().clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.closed.borrow().is_some()
    }

    /// Waits for the end of the connection and says why.
    pub(super) async fn closed(&self) -> String {
        let mut closed = self.0.closed.subscribe();
        match closed.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "ended".to_owned(),
        }
    }

    /// Ends the connection and waits until its process group is gone.
    pub(super) async fn stop(&self) {
        self.0.close("was stopped");
        match &self.0.link {
            Link::Stdio(stdio) => stdio.stop().await,
            Link::Http(http) => http.end_session().await,
        }
    }

    /// Tells the server something and, over HTTP, waits until it has taken it: order matters.
    pub(super) async fn notify(&self, text: String) {
        match &self.0.link {
            Link::Stdio(stdio) => stdio.outbox.tell(text),
            Link::Http(http) => http.tell(text).await,
        }
    }

    pub(super) fn noise(&self) -> u64 {
        match &self.0.link {
            Link::Stdio(stdio) => stdio.noise.load(Ordering::Relaxed),
            Link::Http(_) => 0,
        }
    }

    /// Makes a request. Dropping the future cancels it upstream.
    pub(super) async fn request(&self, call: Call<'_>) -> Result<Box<RawValue>, CallError> {
        let inner = &self.0;
        let Call {
            method,
            params,
            headers,
            limit,
            cancel,
            progress,
            modern,
            courteous,
        } = call;
        let id = inner.ids.fetch_add(1, Ordering::Relaxed);
        let modern = modern.unwrap_or_else(|| inner.is_modern());
        // Asked for on every tool call: progress also keeps a slow call alive.
        let token = (progress.is_some() || method == "tools/call").then_some(id);
        let offered = modern.then_some(inner.elicitation);
        let text = message::request(id, method, &message::with_meta(params, offered, token));
        if text.len() as u64 > inner.limit {
            return Err(CallError::TooLarge {
                server: inner.server.clone(),
                method: method.to_owned(),
                message: Message::Request,
                actual: text.len() as u64,
                limit: inner.limit,
            });
        }
        let (answer, mut activity) = self.register(id, progress, method)?;
        let mut flight = Flight {
            inner,
            id,
            courteous,
            modern,
        };
        let exchange = self.exchange(id, method, text, &headers, modern, answer);
        tokio::pin!(exchange);
        let started = Instant::now();
        let latest = limit.map(|limit| started + limit * PROGRESS_STRETCH);
        let mut deadline = limit.map(|limit| started + limit);
        loop {
            tokio::select! {
                biased;
                outcome = &mut exchange => {
                    flight.landed();
                    return outcome.and_then(|outcome| outcome.map_err(|error| self.refused(method, error)));
                }
                () = cancelled(cancel) => {
                    return Err(CallError::Cancelled { server: inner.server.clone(), method: method.to_owned() });
                }
                () = until(deadline) => {
                    if let Some(bytes) = inner.withdraw(id) {
                        flight.landed();
                        return Err(self.unread(method, bytes));
                    }
                    // Which limit it was: silence, or the most that progress may buy.
                    let total = limit.map(|limit| limit * PROGRESS_STRETCH).filter(|total| started.elapsed() >= *total);
                    return Err(CallError::TimedOut {
                        server: inner.server.clone(),
                        method: method.to_owned(),
                        limit: total.or(limit).unwrap_or_default(),
                    });
                }
                Ok(()) = activity.changed() => {
                    deadline = limit.map(|limit| Instant::now() + limit).min(latest);
                }
            }
        }
    }

    #[expect(clippy::type_complexity, reason = "two ends of two channels, used once")]
    fn register(
        &self,
        id: u64,
        progress: Option<ProgressSink>,
        method: &str,
    ) -> Result<(oneshot::Receiver<Result<Outcome, Interrupt>>, watch::Receiver<()>), CallError> {
        let (answer, receiver) = oneshot::channel();
        let (activity, observer) = watch::channel(());
        let mut waiting = self.0.waiting();
        // Under the lock, so that a request is either seen by `close` or sees the close itself.
        if self.0.closed.borrow().is_some() {
            drop(waiting);
            return Err(self.disconnected(method, Phase::Sending));
        }
        waiting.insert(
            id,
            Pending {
                answer,
                progress,
                activity,
            },
        );
        Ok((receiver, observer))
    }

    async fn exchange(
        &self,
        id: u64,
        method: &str,
        text: String,
        headers: &[(String, String)],
        modern: bool,
        answer: oneshot::Receiver<Result<Outcome, Interrupt>>,
    ) -> Result<Outcome, CallError> {
        let inner = &self.0;
        let interrupted = async {
            match answer.await {
                Ok(Ok(outcome)) => Ok(outcome),
                Ok(Err(Interrupt::TooLarge(actual))) => Err(self.answer_too_large(method, actual)),
                Ok(Err(Interrupt::Closed)) | Err(_) => {
                    let sent = inner.withdraw(id).is_none();
                    let phase = if sent { Phase::Waiting } else { Phase::Sending };
                    Err(self.disconnected(method, phase))
                }
            }
        };
        match &inner.link {
            Link::Stdio(stdio) => match stdio.outbox.request(id, text) {
                Ok(()) => interrupted.await,
                Err(Refused::Full(bytes)) => Err(self.unread(method, bytes)),
                Err(Refused::Ended) => {
                    // How the child ended is known a moment later.
                    self.closed().await;
                    Err(self.disconnected(method, Phase::Sending))
                }
            },
            Link::Http(http) => {
                let deliver = |incoming| inner.deliver(incoming);
                tokio::select! {
                    biased;
                    outcome = http.exchange(id, text, headers, modern, &deliver) => {
                        outcome.map_err(|failure| self.failed(method, failure))
                    }
                    outcome = interrupted => outcome,
                }
            }
        }
    }

    fn refused(&self, method: &str, error: RpcError) -> CallError {
        CallError::Rpc {
            server: self.0.server.clone(),
            method: method.to_owned(),
            code: error.code,
            message: error.message,
            data: error.data,
        }
    }

    fn answer_too_large(&self, method: &str, actual: u64) -> CallError {
        CallError::TooLarge {
            server: self.0.server.clone(),
            method: method.to_owned(),
            message: Message::Answer,
            actual,
            limit: self.0.limit,
        }
    }

    fn unread(&self, method: &str, waiting: u64) -> CallError {
        CallError::Unread {
            server: self.0.server.clone(),
            method: method.to_owned(),
            waiting,
        }
    }

    pub(super) fn disconnected(&self, method: &str, phase: Phase) -> CallError {
        CallError::Disconnected {
            server: self.0.server.clone(),
            method: method.to_owned(),
            phase,
            reason: self
                .closed_reason()
                .unwrap_or_else(|| "closed the connection".to_owned()),
            stderr: self.0.stderr(),
            in_doubt: phase == Phase::Waiting,
        }
    }

    /// Turns an HTTP failure into an error, and ends the connection where a new handshake is what helps.
    fn failed(&self, method: &str, failure: Failure) -> CallError {
        let server = self.0.server.clone();
        let method_owned = method.to_owned();
        match failure {
            Failure::Unreachable(reason) => {
                self.0.close(&format!("cannot be reached: {reason}"));
                self.disconnected(method, Phase::Sending)
            }
            Failure::SessionGone => {
                self.0.close("forgot the session");
                self.disconnected(method, Phase::Sending)
            }
            Failure::Broken(reason) => CallError::Disconnected {
                server,
                method: method_owned,
                phase: Phase::Waiting,
                reason,
                stderr: String::new(),
                in_doubt: true,
            },
            Failure::Auth { status, detail } => {
                if status == 401 {
                    self.0.close("wants credentials");
                }
                CallError::NeedsAuth {
                    server,
                    status,
                    detail,
                }
            }
            Failure::Status { status, body } => CallError::Http {
                server,
                method: method_owned,
                status,
                body,
            },
            Failure::TooLarge(actual) => self.answer_too_large(method, actual),
            Failure::Malformed(reason) => CallError::Malformed {
                server,
                method: method_owned,
                reason,
            },
        }
    }
}

async fn cancelled(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
