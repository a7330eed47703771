//! The hook: a rule of the business that holds however a shipment is promoted, directly, from a cell or through the
//! namespace.

use std::sync::Arc;

use codecell_plugins::{BeforeEvent, BeforeToolCall, BoxFuture, HookDecision, HookFailure};
use serde::Deserialize;

use crate::{ID, ledger::Ledger};

/// Blocks the promotion of a shipment that is not paid.
pub(crate) struct OnlyPaid {
    ledger: Arc<Ledger>,
    promote: String,
}

#[derive(Deserialize)]
struct Promotion {
    id: u64,
}

impl OnlyPaid {
    pub(crate) fn new(ledger: &Arc<Ledger>) -> Self {
        Self {
            ledger: Arc::clone(ledger),
            promote: format!("openclaw:{ID}:shipping_promote"),
        }
    }

    fn decide(&self, event: &BeforeEvent) -> Result<HookDecision, HookFailure> {
        // Every call of the process comes by, and another owner's tool may have the same name: the id decides.
        let promotes = event
            .call
            .id
            .as_ref()
            .is_some_and(|id| id.as_str() == self.promote);
        if !promotes {
            return Ok(HookDecision::pass());
        }
        let promotion: Promotion = event
            .params
            .read()
            .map_err(|error| HookFailure::new(error.to_string()))?;
        match self.ledger.get(promotion.id) {
            Some(shipment) if !shipment.paid => {
                let reason = format!("shipment {} is not paid", shipment.id);
                Ok(HookDecision::block(reason))
            }
            // What does not exist is the tool's to tell.
            _ => Ok(HookDecision::pass()),
        }
    }
}

impl BeforeToolCall for OnlyPaid {
    fn before(&self, event: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
        let decision = self.decide(&event);
        Box::pin(async move { decision })
    }
}
