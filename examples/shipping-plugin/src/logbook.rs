//! The logbook: what the hooks have seen of promotions. The next one to ask why a shipment was not promoted reads it
//! here.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use codecell_plugins::{
    AfterEvent, AfterOutcome, AfterToolCall, BoxFuture, HookFailure, HookedCall, ToolResult,
};
use serde::Serialize;

use crate::promotion::Promotion;

/// Notes that are kept; the oldest are forgotten, because a gateway may run for months.
const MAX_NOTES: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Note {
    shipment: u64,
    event: Event,
    /// Whether a program asked for it, or the model itself.
    from_cell: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Event {
    /// The rule had nothing against it.
    Passed,
    /// The rule was against it, so the tool was not called.
    Refused,
    /// The tool did it.
    Promoted,
    /// The tool was called and did not do it.
    Failed,
}

#[derive(Default)]
pub(crate) struct Logbook(Mutex<VecDeque<Note>>);

impl Logbook {
    /// All notes, oldest first.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.iter().cloned().collect()
    }

    pub(crate) fn note(&self, shipment: u64, event: Event, call: &HookedCall) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() == MAX_NOTES {
            notes.pop_front();
        }
        notes.push_back(Note {
            shipment,
            event,
            from_cell: call.cell.is_some(),
        });
    }
}

/// Notes what came of each promotion, and leaves the result as it is.
pub(crate) struct NoteOutcome(pub(crate) Arc<Logbook>);

impl NoteOutcome {
    fn look(&self, event: &AfterEvent) -> Result<Option<ToolResult>, HookFailure> {
        if let Some(promotion) = Promotion::asked_by(&event.call, &event.params)? {
            let came_to = match &event.outcome {
                AfterOutcome::Returned(result) if !result.is_error => Event::Promoted,
                _ => Event::Failed,
            };
            self.0.note(promotion.id, came_to, &event.call);
        }
        Ok(None)
    }
}

impl AfterToolCall for NoteOutcome {
    fn after(&self, event: AfterEvent) -> BoxFuture<Result<Option<ToolResult>, HookFailure>> {
        let seen = self.look(&event);
        Box::pin(async move { seen })
    }
}
