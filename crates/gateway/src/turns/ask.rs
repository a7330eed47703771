//! What is asked of the turns, and why it may not be given.
use codecell::tools::{RefusedTool, ToolDefinition};
use codecell_agent::JournalError;
use codecell_llm::Message;
use codecell_sessions::SessionError;

use super::agents::Target;
use super::context::History;
use super::live::MAX_TURNS;

/// What somebody wants a turn for.
pub(crate) struct Ask {
    pub(crate) target: Target,
    pub(crate) session: String,
    /// Instructions of this request, after those of the agent.
    pub(crate) instructions: Option<String>,
    /// What the model is told of what was said before.
    pub(crate) history: History,
    /// What the request says was said, the new message last.
    pub(crate) messages: Vec<Message>,
    /// The application's own tools.
    pub(crate) client_tools: Vec<ToolDefinition>,
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) temperature: Option<f64>,
    /// Whether somebody looks at nested calls as they happen.
    pub(crate) watched: bool,
}

/// Why a turn did not begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BeginProblem {
    #[error("session `{0}` is busy with another turn: wait for its end, or use another session")]
    Busy(String),
    #[error("{MAX_TURNS} turns are going on: try again later")]
    TooMany,
    #[error("the server is shutting down")]
    Closed,
    #[error("tool `{}` cannot be used: {}", .0.name, .0.problem)]
    Tool(RefusedTool),
    /// Somebody else has gone on from the turn that was named, while this one began.
    #[error("session `{0}` has gone on meanwhile: try again")]
    GoneOn(String),
    #[error("{0}")]
    Transcript(#[from] JournalError),
    #[error("the transcript cannot be read: {0}")]
    History(#[from] SessionError),
}

/// Why an answer was not taken. Nothing has changed then.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnswerProblem {
    #[error("no turn waits for the output of tool call `{0}`: it was never made, or its turn is over")]
    Unknown(String),
    #[error("the output of tool call `{0}` was already given")]
    Answered(String),
    #[error("no output was given for tool call {}", .0.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", "))]
    Missing(Vec<String>),
}
