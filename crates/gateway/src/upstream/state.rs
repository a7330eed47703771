use std::fmt;

use serde_json::Value;

/// What a server is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Switched off by the user.
    Disabled,
    /// Starting or shaking hands for the first time.
    Connecting,
    /// Taking calls.
    Ready,
    /// It died and is being started again; calls wait for it.
    Restarting {
        /// How it ended.
        reason: String,
    },
    /// It wants credentials.
    NeedsAuth {
        /// What it said.
        reason: String,
    },
    /// It did not start; it is tried again later.
    Failed {
        /// What went wrong.
        reason: String,
    },
    /// This gateway is shutting down.
    Stopped,
}

impl State {
    /// What [`label`](Self::label) says.
    pub(crate) const LABELS: [&'static str; 7] = [
        "disabled",
        "connecting",
        "ready",
        "restarting",
        "needs_auth",
        "failed",
        "stopped",
    ];

    /// One lower-case word for listings.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::Restarting { .. } => "restarting",
            Self::NeedsAuth { .. } => "needs_auth",
            Self::Failed { .. } => "failed",
            Self::Stopped => "stopped",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("it is disabled in the configuration"),
            Self::Connecting => f.write_str("it is still connecting, try again shortly"),
            Self::Ready => f.write_str("it is ready"),
            Self::Restarting { reason } => write!(f, "it {reason} and is being restarted"),
            Self::NeedsAuth { reason } => {
                write!(f, "it needs credentials ({reason}), set them in its `headers`")
            }
            Self::Failed { reason } => write!(f, "it failed: {reason}"),
            Self::Stopped => f.write_str("the gateway is shutting down"),
        }
    }
}

/// Which generation of the protocol a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// The `initialize` handshake, revisions up to 2025-11-25.
    Legacy,
    /// Stateless requests, revision 2026-07-28.
    Modern,
}

/// One tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDump {
    /// Its name, exactly.
    pub name: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Its description, empty if it has none.
    pub description: String,
    /// Its input schema, property order kept.
    pub input_schema: Value,
    /// Its output schema.
    pub output_schema: Option<Value>,
    /// Its annotations, unknown ones too.
    pub annotations: Option<Value>,
    /// The whole entry as sent.
    pub raw: Value,
    /// Whether the configuration keeps it visible to the model.
    pub direct_only: bool,
}

impl ToolDump {
    /// Whether the server says that the tool changes nothing.
    ///
    /// An untrusted hint: good enough to repeat a call after a crash, never to waive an approval.
    #[must_use]
    pub fn says_read_only(&self) -> bool {
        self.annotations
            .as_ref()
            .and_then(|hints| hints.get("readOnlyHint"))
            == Some(&Value::Bool(true))
    }
}

/// A tool that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// Its name, or its position if it has none.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}
