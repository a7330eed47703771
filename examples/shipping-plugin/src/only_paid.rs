//! The hook: a rule of the business that holds however a shipment is promoted, directly, from a cell or through the
//! namespace.

use std::sync::Arc;

use codecell_plugins::{BeforeEvent, BeforeToolCall, BoxFuture, HookDecision, HookFailure};

use crate::{
    ledger::Ledger,
    logbook::{Event, Logbook},
    promotion::Promotion,
};

/// Blocks the promotion of a shipment that is not paid.
pub(crate) struct OnlyPaid {
    ledger: Arc<Ledger>,
    logbook: Arc<Logbook>,
}

impl OnlyPaid {
    pub(crate) fn new(ledger: &Arc<Ledger>, logbook: &Arc<Logbook>) -> Self {
        Self {
            ledger: Arc::clone(ledger),
            logbook: Arc::clone(logbook),
        }
    }

    fn decide(&self, event: &BeforeEvent) -> Result<HookDecision, HookFailure> {
        let Some(promotion) = Promotion::asked_by(&event.call, &event.params)? else {
            return Ok(HookDecision::pass());
        };
        match self.ledger.get(promotion.id) {
            Some(shipment) if !shipment.paid => {
                self.logbook.note(shipment.id, Event::Refused, &event.call);
                let reason = format!("shipment {} is not paid", shipment.id);
                Ok(HookDecision::block(reason))
            }
            // What does not exist is the tool's to tell.
            _ => {
                self.logbook.note(promotion.id, Event::Passed, &event.call);
                Ok(HookDecision::pass())
            }
        }
    }
}

impl BeforeToolCall for OnlyPaid {
    fn before(&self, event: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
        let decision = self.decide(&event);
        Box::pin(async move { decision })
    }
}
