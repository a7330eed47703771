//! A turn that somebody listens to.
use std::sync::Arc;

use codecell_agent::Event;
use codecell_llm::Usage;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::counted::Tally;
use super::live::Turns;
use super::scribe::Scribe;
use super::watch::NestedNews;

/// What happens in a turn.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// The turn itself goes on.
    Turn(Event),
    /// A cell calls tools.
    Nested(NestedNews),
}

/// A turn that somebody listens to. Dropping it aborts the turn, unless that is over or waits for its application.
pub(crate) struct Running {
    pub(super) turns: Turns,
    pub(super) id: String,
    pub(super) session: String,
    pub(super) tally: Arc<Tally>,
    pub(super) ear: Option<Ear>,
}

/// The listening end of a turn, which is kept while the turn waits.
pub(super) struct Ear {
    pub(super) events: mpsc::Receiver<Event>,
    pub(super) nested: mpsc::Receiver<NestedNews>,
    pub(super) scribe: Scribe,
    pub(super) cancel: CancellationToken,
    /// Fires when nothing of the turn is left.
    pub(super) over: CancellationToken,
}

impl Running {
    /// Names the turn.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The session it belongs to.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// How often the model was asked.
    pub(crate) fn rounds(&self) -> u32 {
        self.tally.rounds()
    }

    /// What the model's answers cost since this was asked the last time, by whoever listened then.
    pub(crate) fn take_spent(&self) -> Usage {
        self.tally.take_spent()
    }

    /// The next thing that happens. `None` once the turn is over or waits for its application, which are the last
    /// things it tells; both are in the transcript by then.
    pub(crate) async fn next(&mut self) -> Option<Happening> {
        let ear = self.ear.as_mut()?;
        let event = tokio::select! {
            biased;
            Some(news) = ear.nested.recv() => return Some(Happening::Nested(news)),
            event = ear.events.recv() => event,
        };
        match event {
            Some(Event::Suspended { calls }) => {
                // The turn fails by itself if its transcript cannot be written. A listener that leaves before that
                // still has the ear, so its turn is aborted.
                let _ = ear.scribe.flush().await;
                if let Some(ear) = self.ear.take() {
                    self.turns.park(&self.id, calls.clone(), ear);
                }
                Some(Happening::Turn(Event::Suspended { calls }))
            }
            Some(Event::Ended(end)) => {
                // Everything is written by then.
                ear.over.cancelled().await;
                self.ear = None;
                Some(Happening::Turn(Event::Ended(end)))
            }
            Some(event) => Some(Happening::Turn(event)),
            None => {
                self.ear = None;
                None
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(ear) = &self.ear {
            ear.cancel.cancel();
        }
    }
}
