//! What is said over the socket: one line of JSON each way.
use codecell::tools::{Decision, PendingApproval};
use serde::{Deserialize, Serialize};

/// Longest line that is read: arguments and programs have their own, smaller limits.
pub(super) const MAX_LINE_BYTES: u64 = 64 << 20;

/// What a person wants.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(super) enum Request {
    /// Everything that waits.
    List,
    /// Settle one question.
    Decide {
        /// The question.
        id: String,
        /// The answer.
        decision: Decision,
    },
}

/// What the process answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Response {
    /// Everything that waits.
    Pending(Vec<PendingApproval>),
    /// The question is settled by this answer.
    Decided,
    /// The answer did not count; why.
    Refused(String),
}
