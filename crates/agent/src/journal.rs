use codecell_llm::{Reply, ToolCall};

use crate::surface::{Answer, BoxFuture};

/// Keeps what a turn does, as it does it.
///
/// The turn waits until a thing is kept before it goes on, so nothing that was acted upon can be missing afterwards.
pub trait Journal: Send + Sync + 'static {
    /// Keeps one thing.
    fn keep(&self, what: Kept) -> BoxFuture<Result<(), JournalError>>;
}

/// Something a turn did.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// The model answered. The results of its calls follow; calls that are not carried out because it stopped for
    /// another reason are not in it. Of an answer that broke off there is the text, with
    /// [`StopReason::Length`](codecell_llm::StopReason::Length).
    Reply(Box<Reply>),
    /// A call got its result. Told as calls settle, which need not be their order.
    Result {
        /// The call.
        call: ToolCall,
        /// The result.
        answer: Answer,
        /// How long it took in milliseconds, the time that it waited for the application included.
        took_ms: u64,
    },
}

/// Why something could not be kept. Nothing more is kept then, and the turn ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the transcript cannot be written: {0}")]
pub struct JournalError(pub String);

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn keep(&self, _what: Kept) -> BoxFuture<Result<(), JournalError>> {
        Box::pin(async { Ok(()) })
    }
}
