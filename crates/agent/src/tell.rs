use std::collections::VecDeque;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::event::Event;

/// Tells the listener what happens: everything, in order, as fast as it listens.
pub(crate) struct Teller {
    events: mpsc::Sender<Event>,
    halt: CancellationToken,
    /// What there was no room for when the turn had to stop. From then on nothing waits for the listener.
    late: VecDeque<Event>,
}

impl Teller {
    pub(crate) fn new(events: mpsc::Sender<Event>, halt: CancellationToken) -> Self {
        Self {
            events,
            halt,
            late: VecDeque::new(),
        }
    }

    /// Waits for room. A listener that is gone hears nothing, and that is all.
    pub(crate) async fn tell(&mut self, event: Event) {
        if !self.late.is_empty() {
            return self.late.push_back(event);
        }
        let event = match self.events.try_send(event) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => return,
            Err(mpsc::error::TrySendError::Full(event)) => event,
        };
        match self.halt.run_until_cancelled(self.events.reserve()).await {
            Some(Ok(room)) => room.send(event),
            Some(Err(_)) => {}
            None => self.late.push_back(event),
        }
    }

    /// Leaves the rest to be heard whenever the listener gets to it.
    pub(crate) fn finish(self) {
        let Self { events, late, .. } = self;
        if late.is_empty() {
            return;
        }
        tokio::spawn(async move {
            for event in late {
                if events.send(event).await.is_err() {
                    return;
                }
            }
        });
    }
}
