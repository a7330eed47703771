use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use codecell_llm::Request;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::event::{Event, TurnEnd};
use crate::halt::Halt;
use crate::journal::Journal;
use crate::model::Model;
use crate::run::Run;
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
    /// Calls of one answer that run at once; none is as good as one. A call that waits for the application does not
    /// run.
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
    /// is gone does not end it, for that is what `cancel` is there. Once the turn has to stop, it waits for nobody:
    /// what the listener has no room for then, [`Event::Ended`] included, reaches it later.
    ///
    /// What had to stop gets two seconds to do so. Calls are tasks of their own: dropping this future drops them, and
    /// one that panics costs only its own result. Must be called within a Tokio runtime.
    pub async fn run(self, events: mpsc::Sender<Event>) -> TurnEnd {
        let span = tracing::info_span!("turn", model = %self.request.model);
        self.run_within(events).instrument(span).await
    }

    async fn run_within(self, events: mpsc::Sender<Event>) -> TurnEnd {
        let halt = Halt::new(&self.cancel, self.limits.time);
        let mut run = Run::new(self, events, &halt);
        let (stop, text) = {
            let mut going = pin!(run.go());
            tokio::select! {
                biased;
                end = &mut going => end,
                () = halt.tick() => going.await,
            }
        };
        tracing::info!(stop = stop.name(), "the turn is over");
        run.end(stop, text).await
    }
}
