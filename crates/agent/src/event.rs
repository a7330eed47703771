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
    /// The model calls a tool; its arguments may still be arriving.
    CallStarted {
        /// Names the call.
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
    /// The model has answered, its calls included.
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
    /// A call that waited goes on.
    Resumed,
    /// The turn is over.
    Ended(Box<TurnEnd>),
}

/// How a turn ended.
#[derive(Clone, Debug)]
pub struct TurnEnd {
    /// Why.
    pub stop: Stop,
    /// What the model said last.
    pub text: String,
    /// What was said and done, to be put after the messages that the turn began with. No call is without its result.
    pub messages: Vec<Message>,
    /// What all rounds cost together.
    pub usage: Usage,
    /// How often the model answered.
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
