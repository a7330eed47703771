use std::sync::Arc;
use std::time::Duration;

use codecell_llm::Request;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::event::{Event, TurnEnd};
use crate::journal::Journal;
use crate::model::Model;
use crate::surface::ToolSurface;

/// What a turn may use. A limit of `None` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often the model is asked.
    pub rounds: u32,
    /// Tokens of all rounds together, read and written.
    pub tokens: Option<u64>,
    /// The time of the whole turn, without the time that it waits for the application.
    pub time: Option<Duration>,
    /// Calls of one answer that run at once.
    pub parallel_calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds: 50,
            tokens: None,
            time: None,
            parallel_calls: 16,
        }
    }
}

/// One turn: from what the user said to the model's last word on it.
pub struct Turn {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The tools.
    pub surface: Arc<dyn ToolSurface>,
    /// Keeps what happens.
    pub journal: Arc<dyn Journal>,
    /// What the model is asked at first. Its tools are replaced by the surface's.
    pub request: Request,
    /// What it may use.
    pub limits: Limits,
    /// Ends it.
    pub cancel: CancellationToken,
}

impl Turn {
    /// Runs the turn to its end and tells what happens to `events`. A listener that is slow slows the turn; one that
    /// is gone does not end it, for that is what `cancel` is there.
    pub async fn run(self, events: mpsc::Sender<Event>) -> TurnEnd {
        todo!("the loop: {:?}", events.capacity())
    }
}
