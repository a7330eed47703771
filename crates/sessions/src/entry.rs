use codecell_trajectory::{ToolCall, ToolResult};
use serde::{Deserialize, Serialize};

/// One thing that was said or done. Never changed once appended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// What a person wrote.
    User {
        /// Their text.
        text: String,
    },
    /// What the model wrote.
    Assistant {
        /// Its text.
        text: String,
    },
    /// A call, by the model or, with a `parent_tool_call_id`, by a cell.
    ToolCall(ToolCall),
    /// The answer to a call.
    ToolResult(ToolResult),
    /// The session has a new name.
    SessionInfo {
        /// The name; `None` takes it away.
        name: Option<String>,
    },
}

/// An entry with its place in a session.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEntry {
    /// The session.
    pub session_id: String,
    /// Its place, from 1 and without gaps.
    pub seq: u64,
    /// When, in RFC 3339 with milliseconds, UTC.
    pub ts: String,
    /// The agent run it belongs to, if there is one.
    pub run_id: Option<String>,
    /// What was said.
    pub entry: Entry,
}

/// A session as one run left it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunBranch {
    /// The conversation it belongs to.
    pub session_key: String,
    /// Whether nothing was said in it since.
    pub is_newest: bool,
    /// What was said, in order.
    pub entries: Vec<StoredEntry>,
}

/// Says that entries are on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The session they are in.
    pub session_id: String,
    /// The place of the last entry of the session.
    pub last_seq: u64,
}

/// What is known of a session without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Names the session.
    pub session_id: String,
    /// Names the conversation, which a reset continues in another session.
    pub session_key: String,
    /// What the newest [`Entry::SessionInfo`] calls it.
    pub name: Option<String>,
    /// When it began, in RFC 3339.
    pub started_at: String,
    /// When it was last appended to, in RFC 3339.
    pub updated_at: String,
    /// How many entries it has.
    pub entries: u64,
    /// Whether the key leads here: false once reset.
    pub active: bool,
}
