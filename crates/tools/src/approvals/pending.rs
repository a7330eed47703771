use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use codecell_bridge::Json;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::ask::{ApprovalAsk, Decision, Severity};
use crate::caller::{Caller, ParentCell};

/// A question that waits for a person. Holds arguments and programs: for the people who approve, not for logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingApproval {
    /// Names the question: `plugin:…` or `policy:…`.
    pub id: String,
    /// What is asked.
    pub title: String,
    /// What one has to know to answer.
    pub description: String,
    /// The plugin, or the entry of the configured rule.
    pub asked_by: String,
    /// How much is at stake.
    pub severity: Severity,
    /// The tool's id; `exec` for the outer call of code mode.
    pub tool: String,
    /// What the tool would get, exactly.
    pub arguments: Json,
    /// The cell that calls; none for a direct call.
    pub cell: Option<PendingCell>,
    /// The agent.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// Its run.
    pub run: String,
    /// When it was asked, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// When it answers itself with no, in milliseconds since 1970.
    pub expires_at_ms: u64,
    /// What may be answered.
    pub allowed_decisions: Vec<Decision>,
}

/// The cell behind a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingCell {
    /// Names the cell.
    pub id: String,
    /// `javascript` or `typescript`.
    pub language: String,
    /// The submitted program.
    pub source: String,
    /// Number of the call within the cell.
    pub call: u32,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A plugin's hook. `allow-always` covers this call only.
    Plugin {
        /// The plugin.
        id: String,
    },
    /// A configured rule. `allow-always` is remembered per agent, tool and rule.
    Policy {
        /// The entry that caught the tool.
        rule: String,
    },
}

/// Everything about a question before it is asked.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// Who asks.
    pub origin: Origin,
    /// What is asked.
    pub ask: ApprovalAsk,
    /// The tool's id; `exec` for the outer call of code mode.
    pub tool: String,
    /// What the tool would get.
    pub arguments: Json,
    /// On whose behalf.
    pub caller: Arc<Caller>,
    /// The cell that calls.
    pub cell: Option<Arc<ParentCell>>,
    /// Number of the call within the cell.
    pub number: u32,
    /// Fires when nobody wants the answer any more.
    pub cancel: CancellationToken,
}

impl ApprovalRequest {
    pub(super) fn into_pending(self, now_ms: u64, open_for: Duration) -> PendingApproval {
        let (prefix, asked_by) = match self.origin {
            Origin::Plugin { id } => ("plugin", id),
            Origin::Policy { rule } => ("policy", rule),
        };
        let mut allowed = self.ask.allowed_decisions;
        if allowed.is_empty() {
            allowed = Decision::ALL.to_vec();
        } else if !allowed.contains(&Decision::Deny) {
            allowed.push(Decision::Deny);
        }
        PendingApproval {
            id: format!("{prefix}:{}", Uuid::new_v4()),
            title: self.ask.title,
            description: self.ask.description,
            asked_by,
            severity: self.ask.severity,
            tool: self.tool,
            arguments: self.arguments,
            cell: self.cell.map(|cell| PendingCell {
                id: cell.id.clone(),
                language: cell.language.to_owned(),
                source: cell.source.to_string(),
                call: self.number,
            }),
            agent: self.caller.agent.clone(),
            session: self.caller.session.clone(),
            run: self.caller.run.clone(),
            created_at_ms: now_ms,
            expires_at_ms: now_ms.saturating_add(u64::try_from(open_for.as_millis()).unwrap_or(u64::MAX)),
            allowed_decisions: allowed,
        }
    }
}

/// What a question came to. All but the first two mean no; the text is what the caller is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resolution {
    /// Yes, this time.
    AllowedOnce,
    /// Yes, and see [`Decision::AllowAlways`].
    AllowedAlways,
    /// No, or an answer that was not offered.
    Denied,
    /// Nobody answered in time.
    TimedOut,
    /// The call is not wanted any more.
    Cancelled,
    /// There is nobody who could be asked.
    NoRoute,
    /// The question itself is not one.
    Rejected(String),
    /// The question was taken back.
    Withdrawn(String),
}

impl Resolution {
    /// Whether the call may run.
    #[must_use]
    pub fn allows(&self) -> bool {
        matches!(self, Self::AllowedOnce | Self::AllowedAlways)
    }

    /// Stable and machine-readable.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AllowedOnce => "allowed-once",
            Self::AllowedAlways => "allowed-always",
            Self::Denied => "denied",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::NoRoute => "no-route",
            Self::Rejected(_) => "rejected",
            Self::Withdrawn(_) => "withdrawn",
        }
    }
}

impl From<Decision> for Resolution {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::AllowOnce => Self::AllowedOnce,
            Decision::AllowAlways => Self::AllowedAlways,
            Decision::Deny => Self::Denied,
        }
    }
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllowedOnce => f.write_str("Approved once"),
            Self::AllowedAlways => f.write_str("Approved always"),
            Self::Denied => f.write_str("Denied by user"),
            Self::TimedOut => f.write_str("Approval timed out"),
            Self::Cancelled => f.write_str("Approval cancelled (run aborted)"),
            Self::NoRoute => f.write_str("Plugin approval unavailable (no approval route)"),
            Self::Rejected(why) => write!(f, "Plugin approval request rejected: {why}"),
            Self::Withdrawn(why) => write!(f, "Plugin approval no longer available: {why}"),
        }
    }
}
