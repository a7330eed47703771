use std::sync::Arc;

use codecell_bridge::Outside;

/// On whose behalf a call is made. The same for a direct call and for the nested calls of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The agent.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// Its run.
    pub run: String,
    /// Where the request came from, if that is known: for example `mcp` or `cli`.
    pub channel: Option<String>,
    /// Who sent it, if that is proven.
    pub sender: Option<String>,
    /// Whether the agent is sandboxed, so that the sandbox's policy counts too.
    pub sandboxed: bool,
}

impl Caller {
    /// A caller of which nothing else is known.
    #[must_use]
    pub fn new(agent: impl Into<String>, session: impl Into<String>, run: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            session: session.into(),
            run: run.into(),
            ..Self::default()
        }
    }
}

/// The cell that makes a nested call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentCell {
    /// Names the cell within its process.
    pub id: String,
    /// `javascript` or `typescript`.
    pub language: &'static str,
    /// The submitted program. May hold secrets: for the people who approve, not for logs.
    pub source: Arc<str>,
    /// Which of its calls wait for somebody who answers only once the cell is suspended.
    pub outside: Outside,
}
