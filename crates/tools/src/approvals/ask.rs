use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::Restrictions;

/// How long a question stays open when nobody says otherwise.
pub const DEFAULT_APPROVAL_TIME: Duration = Duration::from_secs(120);

/// How long a plugin's question may stay open.
pub const MAX_PLUGIN_APPROVAL_TIME: Duration = Duration::from_secs(600);

/// How long the question of a configured rule may stay open.
pub const MAX_POLICY_APPROVAL_TIME: Duration = Duration::from_secs(1_800);

/// Longest title of a question, in characters.
pub const MAX_TITLE_CHARS: usize = 80;

/// Longest description of a question, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 512;

/// What a person may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// This call may run.
    AllowOnce,
    /// This call may run. When a configured rule asked, so may the agent's later calls of the tool, as long as the
    /// process lives; a plugin's question covers one call in any case.
    AllowAlways,
    /// This call must not run.
    Deny,
}

impl Decision {
    /// Every decision.
    pub const ALL: [Self; 3] = [Self::AllowOnce, Self::AllowAlways, Self::Deny];

    /// As the decision is spelled in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow-once",
            Self::AllowAlways => "allow-always",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much is at stake, for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is lost.
    Info,
    /// Worth a look.
    #[default]
    Warning,
    /// Cannot be undone.
    Critical,
}

/// A plugin's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalAsk {
    /// What is asked, at most [`MAX_TITLE_CHARS`].
    pub title: String,
    /// What one has to know to answer, at most [`MAX_DESCRIPTION_CHARS`].
    pub description: String,
    /// How much is at stake.
    pub severity: Severity,
    /// How long the question stays open: [`DEFAULT_APPROVAL_TIME`] if absent, [`MAX_PLUGIN_APPROVAL_TIME`] at most.
    pub timeout: Option<Duration>,
    /// What may be answered; every decision if empty. `deny` may always be answered.
    pub allowed_decisions: Vec<Decision>,
}

impl ApprovalAsk {
    /// A question with everything else as usual.
    #[must_use]
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: description.into(),
            severity: Severity::default(),
            timeout: None,
            allowed_decisions: Vec::new(),
        }
    }
}

/// A configured rule: calls of these tools ask a person first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskRule {
    /// The tools.
    pub selectors: Restrictions,
    /// How long the question stays open: [`DEFAULT_APPROVAL_TIME`] if absent, [`MAX_POLICY_APPROVAL_TIME`] at most.
    pub timeout: Option<Duration>,
    /// How much is at stake.
    pub severity: Severity,
}
