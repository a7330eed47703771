use codecell_llm::{Message, Usage};

use crate::journal::JournalError;
use crate::surface::{Answer, ClientCall};

/// What happens in a turn, in the order in which it happens. [`Event::Ended`] is told exactly once and last.
#[derive(Clone, Debug)]
pub enum Event {
    /// The model is asked, for the `round`th time, from 1.
    RoundStarted {
        /// Which time.
        round: u32,
    },
    /// The model says more.
    Text(String),
    /// The model reasons, and its provider shows it.
    Thinking(String),
    /// The model calls a tool; its arguments may still be arriving. No [`CallEnded`](Self::CallEnded) follows if the
    /// answer does not come to its end, or does not end for its calls.
    CallStarted {
        /// Names the call: unique in the conversation, even if the model uses an id again.
        id: String,
        /// The tool.
        name: String,
    },
    /// A call has its result.
    CallEnded {
        /// Which.
        id: String,
        /// The tool.
        name: String,
        /// What the model gets.
        answer: Answer,
    },
    /// The model has answered and its calls have their results. Not told of an answer that broke off.
    RoundEnded {
        /// Which time.
        round: u32,
        /// What it cost.
        usage: Usage,
    },
    /// Nothing goes on before the application answers these calls.
    Suspended {
        /// The calls of all that waits, in order.
        calls: Vec<ClientCall>,
    },
    /// The first of the calls that waited has moved: it is done, or waits for more. Told once after each
    /// [`Suspended`](Self::Suspended), unless the turn was stopped meanwhile.
    Resumed,
    /// The turn is over.
    Ended(Box<TurnEnd>),
}

/// How a turn ended.
#[derive(Clone, Debug)]
pub struct TurnEnd {
    /// Why.
    pub stop: Stop,
    /// The final answer: what the model said last, unless it called tools with it.
    pub text: String,
    /// What was said and done, to be put after the messages that the turn began with. Each call is followed by its
    /// result. An answer without words and calls is left out, and one that broke off is its text.
    pub messages: Vec<Message>,
    /// What all rounds cost together.
    pub usage: Usage,
    /// How often the model answered to the end.
    pub rounds: u32,
}

/// Why a turn ended.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The model was done.
    Done,
    /// The model reached its limit of tokens.
    Length,
    /// The model or its provider refused to go on, in the provider's words.
    Refused(String),
    /// It was cancelled.
    Aborted,
    /// A limit of the turn was reached: what it says names the limit.
    Limit(String),
    /// It failed.
    Failed(TurnError),
}

impl Stop {
    /// One word for it, for logs and counters.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Length => "length",
            Self::Refused(_) => "refused",
            Self::Aborted => "aborted",
            Self::Limit(_) => "limit",
            Self::Failed(_) => "failed",
        }
    }
}

/// Why a turn failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// There is nothing to answer.
    #[error("there is nothing to answer: the last message must be the user's, or a tool's result")]
    NothingToAnswer,
    /// The model could not be asked, or its answer broke off.
    #[error(transparent)]
    Model(#[from] codecell_llm::Error),
    /// What happened could not be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
}
