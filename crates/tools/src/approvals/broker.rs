use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, oneshot};
use tokio_util::sync::CancellationToken;

use super::ask::{
    ApprovalAsk, DEFAULT_APPROVAL_TIME, Decision, MAX_DESCRIPTION_CHARS, MAX_PLUGIN_APPROVAL_TIME,
    MAX_POLICY_APPROVAL_TIME, MAX_TITLE_CHARS,
};
use super::pending::{ApprovalRequest, Origin, PendingApproval, Resolution};
use crate::recent::Recent;

/// Questions that may wait at once. More than any person answers; a cell in a loop must not fill the memory.
const MAX_PENDING: usize = 1_024;

/// Settled questions that are remembered, so that a late answer hears why it is late.
const MAX_SETTLED: usize = 1_024;

/// Remembered `allow-always` answers. Beyond it a person is asked again.
const MAX_ALWAYS: usize = 4_096;

/// News that a slow listener may lag behind by before it misses some.
const MAX_NEWS: usize = 256;

/// Carries questions to people and their answers back. Clones share one broker.
///
/// A question has one answer: whatever settles it first (a person, the clock, the end of the run) counts.
#[derive(Clone)]
pub struct Approvals {
    shared: Arc<Shared>,
}

struct Shared {
    desk: Mutex<Desk>,
    routes: AtomicUsize,
    news: broadcast::Sender<ApprovalNews>,
}

struct Desk {
    /// In the order they were asked.
    pending: Vec<Entry>,
    settled: Recent<Resolution>,
    always: HashSet<Always>,
}

struct Entry {
    approval: PendingApproval,
    always: Option<Always>,
    answer: oneshot::Sender<Resolution>,
}

/// What an `allow-always` covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Always {
    agent: String,
    tool: String,
    rule: String,
}

/// What happens to questions, for whoever shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ApprovalNews {
    /// A question was asked.
    Opened {
        /// The question.
        approval: Box<PendingApproval>,
    },
    /// A question was settled.
    Closed {
        /// Which.
        id: String,
        /// How.
        resolution: Resolution,
    },
}

/// Why an answer did not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecideError {
    /// Never asked, or settled long ago.
    #[error("there is no approval `{id}`")]
    Unknown {
        /// As it was given.
        id: String,
    },
    /// Something else came first.
    #[error("approval `{id}` is already settled: {resolution}")]
    Settled {
        /// Which.
        id: String,
        /// What came first.
        resolution: Resolution,
    },
    /// The answer was none of the choices, so the call is denied.
    #[error("approval `{id}` does not offer `{decision}`, so the call was denied; it offers {}", names(.offered))]
    NotOffered {
        /// Which.
        id: String,
        /// The answer.
        decision: Decision,
        /// The choices.
        offered: Vec<Decision>,
    },
}

fn names(decisions: &[Decision]) -> String {
    let names: Vec<&str> = decisions.iter().map(|decision| decision.as_str()).collect();
    names.join(", ")
}

impl Default for Approvals {
    fn default() -> Self {
        Self::new()
    }
}

impl Approvals {
    /// A broker without questions, and without routes to people.
    #[must_use]
    pub fn new() -> Self {
        let desk = Desk {
            pending: Vec::new(),
            settled: Recent::new(MAX_SETTLED),
            always: HashSet::new(),
        };
        Self {
            shared: Arc::new(Shared {
                desk: Mutex::new(desk),
                routes: AtomicUsize::new(0),
                news: broadcast::Sender::new(MAX_NEWS),
            }),
        }
    }

    /// Says that somebody answers questions for as long as the guard lives. Without any, each question is answered
    /// with [`Resolution::NoRoute`] at once. Questions that wait when the last route goes keep waiting: a person may
    /// come back before they expire.
    pub fn add_route(&self) -> RouteGuard {
        self.shared.routes.fetch_add(1, Ordering::AcqRel);
        RouteGuard {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Asks, and waits for the answer. Dropping the future takes the question back.
    pub async fn request(&self, request: ApprovalRequest) -> Resolution {
        match self.open(request) {
            Ok(question) => question.answer().await,
            Err(resolution) => resolution,
        }
    }

    /// Puts a question on the desk.
    ///
    /// # Errors
    ///
    /// Gives the answer itself when it needs no person: remembered, nobody to ask, or not a proper question.
    pub fn open(&self, request: ApprovalRequest) -> Result<OpenQuestion, Resolution> {
        if let Some(why) = improper(&request.ask) {
            return Err(Resolution::Rejected(why));
        }
        if request.cancel.is_cancelled() {
            return Err(Resolution::Cancelled);
        }
        let (always, longest) = match &request.origin {
            Origin::Plugin { .. } => (None, MAX_PLUGIN_APPROVAL_TIME),
            Origin::Policy { rule } => {
                let always = Always {
                    agent: request.caller.agent.clone(),
                    tool: request.tool.clone(),
                    rule: rule.clone(),
                };
                (Some(always), MAX_POLICY_APPROVAL_TIME)
            }
        };
        let mut desk = self.shared.desk();
        if always.as_ref().is_some_and(|always| desk.always.contains(always)) {
            return Err(Resolution::AllowedAlways);
        }
        if self.shared.routes.load(Ordering::Acquire) == 0 {
            return Err(Resolution::NoRoute);
        }
        if desk.pending.len() >= MAX_PENDING {
            return Err(Resolution::Rejected(format!(
                "{MAX_PENDING} approvals are already waiting"
            )));
        }
        let open_for = request.ask.timeout.unwrap_or(DEFAULT_APPROVAL_TIME).min(longest);
        let cancel = request.cancel.clone();
        let approval = request.into_pending(now_ms(), open_for);
        let (answer, answered) = oneshot::channel();
        let question = OpenQuestion {
            id: approval.id.clone(),
            shared: Arc::clone(&self.shared),
            open_for,
            cancel,
            answered,
        };
        desk.pending.push(Entry {
            approval: approval.clone(),
            always,
            answer,
        });
        // Told under the lock, so that a question is opened before it is closed. Nobody may be listening.
        let approval = Box::new(approval);
        let _ = self.shared.news.send(ApprovalNews::Opened { approval });
        Ok(question)
    }

    /// The questions that wait, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<PendingApproval> {
        let desk = self.shared.desk();
        desk.pending.iter().map(|entry| entry.approval.clone()).collect()
    }

    /// One question that waits.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<PendingApproval> {
        let desk = self.shared.desk();
        let found = desk.pending.iter().find(|entry| entry.approval.id == id);
        found.map(|entry| entry.approval.clone())
    }

    /// Answers a question. The first answer counts.
    ///
    /// # Errors
    ///
    /// Fails when the question is unknown or settled, and when the answer was not offered: that denies the call.
    pub fn decide(&self, id: &str, decision: Decision) -> Result<(), DecideError> {
        let mut desk = self.shared.desk();
        let Some(entry) = desk.pending.iter().find(|entry| entry.approval.id == id) else {
            let id = id.to_owned();
            return Err(match desk.settled.get(&id) {
                Some(resolution) => DecideError::Settled {
                    resolution: resolution.clone(),
                    id,
                },
                None => DecideError::Unknown { id },
            });
        };
        let offered = entry.approval.allowed_decisions.clone();
        if !offered.contains(&decision) {
            self.shared.settle(&mut desk, id, Resolution::Denied);
            let id = id.to_owned();
            return Err(DecideError::NotOffered {
                id,
                decision,
                offered,
            });
        }
        let always = entry.always.clone();
        self.shared.settle(&mut desk, id, decision.into());
        if let (Decision::AllowAlways, Some(always)) = (decision, always) {
            self.shared.remember(&mut desk, always);
        }
        Ok(())
    }

    /// Takes back every question of a session that has ended.
    pub fn cancel_session(&self, agent: &str, session: &str) {
        let mut desk = self.shared.desk();
        let of_session = desk
            .pending
            .iter()
            .filter(|entry| entry.approval.agent == agent && entry.approval.session == session);
        let ids: Vec<String> = of_session.map(|entry| entry.approval.id.clone()).collect();
        for id in ids {
            let why = "the session has ended".to_owned();
            self.shared.settle(&mut desk, &id, Resolution::Withdrawn(why));
        }
    }

    /// News from now on. A listener that lags misses some and reads [`list`](Self::list) again.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<ApprovalNews> {
        self.shared.news.subscribe()
    }
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        // Nothing on the desk is ever half written.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Settles a question that still waits.
    fn settle(&self, desk: &mut Desk, id: &str, resolution: Resolution) {
        let Some(at) = desk.pending.iter().position(|entry| entry.approval.id == id) else {
            return;
        };
        let entry = desk.pending.remove(at);
        desk.settled.remember(id.to_owned(), resolution.clone());
        // The one who asked may be gone.
        let _ = entry.answer.send(resolution.clone());
        let id = id.to_owned();
        let _ = self.news.send(ApprovalNews::Closed { id, resolution });
    }

    /// Remembers what is always allowed, and answers the questions that are waiting for the same.
    fn remember(&self, desk: &mut Desk, always: Always) {
        let same = desk
            .pending
            .iter()
            .filter(|entry| entry.always.as_ref() == Some(&always));
        let ids: Vec<String> = same.map(|entry| entry.approval.id.clone()).collect();
        for id in ids {
            self.settle(desk, &id, Resolution::AllowedAlways);
        }
        if desk.always.len() < MAX_ALWAYS {
            desk.always.insert(always);
        }
    }
}

/// A question on the desk. Dropping it takes the question back.
pub struct OpenQuestion {
    id: String,
    shared: Arc<Shared>,
    open_for: Duration,
    cancel: CancellationToken,
    answered: oneshot::Receiver<Resolution>,
}

impl OpenQuestion {
    /// Names the question.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Waits for the answer, the clock or the end of the run, whichever is first.
    pub async fn answer(mut self) -> Resolution {
        let ended = tokio::select! {
            biased;
            answer = &mut self.answered => return answer.unwrap_or(Resolution::Cancelled),
            () = self.cancel.cancelled() => Resolution::Cancelled,
            () = tokio::time::sleep(self.open_for) => Resolution::TimedOut,
        };
        // If an answer slipped in just now, that one counts.
        self.shared.settle(&mut self.shared.desk(), &self.id, ended);
        (&mut self.answered).await.unwrap_or(Resolution::Cancelled)
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.shared
            .settle(&mut self.shared.desk(), &self.id, Resolution::Cancelled);
    }
}

/// Somebody who answers questions. Dropping it says that they are gone.
#[must_use = "the route closes when the guard is dropped"]
pub struct RouteGuard {
    shared: Arc<Shared>,
}

impl Drop for RouteGuard {
    fn drop(&mut self) {
        self.shared.routes.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What is wrong with a question, if anything.
fn improper(ask: &ApprovalAsk) -> Option<String> {
    let too_long = |what: &str, text: &str, limit: usize| {
        let chars = text.chars().count();
        (chars > limit).then(|| format!("the {what} has {chars} characters; the limit is {limit}"))
    };
    if ask.title.trim().is_empty() {
        return Some("the title is blank".to_owned());
    }
    if ask.timeout.is_some_and(|timeout| timeout.is_zero()) {
        return Some("the timeout is zero".to_owned());
    }
    too_long("title", &ask.title, MAX_TITLE_CHARS)
        .or_else(|| too_long("description", &ask.description, MAX_DESCRIPTION_CHARS))
}

/// Milliseconds since 1970; a clock before that counts as then.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
