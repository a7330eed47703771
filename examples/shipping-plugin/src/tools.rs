//! The tools. Each declares what it takes and, closed to the last object, what it gives: so a model knows from the
//! catalog's one-line hints how to call it and what comes back.

use std::sync::Arc;

use codecell_plugins::{Tool, ToolError, define_tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    ledger::{Ledger, MAX_TONS, Shipment, Status},
    logbook::Logbook,
};

/// What a ton costs; express costs twice as much.
const CENTS_PER_TON: f64 = 9_000.0;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListInput {
    paid: Option<bool>,
    over_tons: Option<f64>,
}

/// Reads, so it is safe to repeat.
pub(crate) fn list(ledger: &Arc<Ledger>) -> Arc<dyn Tool> {
    let ledger = Arc::clone(ledger);
    define_tool(
        "shipping_list",
        "List shipments, all of them or those that are paid, unpaid or heavier than some tons",
        object(
            json!({ "paid": { "type": "boolean" }, "overTons": { "type": "number", "minimum": 0 } }),
            &[],
        ),
    )
    .output(json!({ "type": "array", "items": shipment() }))
    .read_only()
    .replay_safe()
    .run(move |input: ListInput| {
        let wanted = |shipment: &Shipment| {
            input.paid.is_none_or(|paid| shipment.paid == paid)
                && input.over_tons.is_none_or(|tons| shipment.tons > tons)
        };
        let mut shipments = ledger.all();
        shipments.retain(wanted);
        async move { Ok(shipments) }
    })
}

#[derive(Deserialize)]
struct QuoteInput {
    tons: f64,
    #[serde(default)]
    express: bool,
}

#[derive(Serialize)]
struct Quote {
    cents: u64,
    currency: &'static str,
}

pub(crate) fn quote() -> Arc<dyn Tool> {
    let tons = json!({ "type": "number", "exclusiveMinimum": 0 });
    define_tool(
        "shipping_quote",
        "Price of a shipment by weight in tons",
        object(
            json!({ "tons": tons, "express": { "type": "boolean", "default": false } }),
            &["tons"],
        ),
    )
    .output(object(
        json!({ "cents": { "type": "integer" }, "currency": { "const": "EUR" } }),
        &["cents", "currency"],
    ))
    .read_only()
    .replay_safe()
    .run(|input: QuoteInput| async move {
        if input.tons > MAX_TONS {
            let message = format!("{} tons are too many; one shipment takes {MAX_TONS}", input.tons);
            return Err(ToolError::new("too_heavy", message));
        }
        // At most 360,000: the schema has it above 0, the line above below `MAX_TONS`.
        let cents = (input.tons * CENTS_PER_TON).ceil() as u64;
        Ok(Quote {
            cents: if input.express { 2 * cents } else { cents },
            currency: "EUR",
        })
    })
}

#[derive(Deserialize)]
struct PromoteInput {
    id: u64,
    status: Status,
}

#[derive(Serialize)]
struct Promoted {
    id: u64,
    status: Status,
    previous: Status,
}

/// Has an effect, so nothing is said of repeating it.
pub(crate) fn promote(ledger: &Arc<Ledger>) -> Arc<dyn Tool> {
    let ledger = Arc::clone(ledger);
    let (id, status) = (json!({ "type": "integer", "minimum": 1 }), status());
    define_tool(
        "shipping_promote",
        "Give a paid shipment a new status",
        object(json!({ "id": id, "status": status }), &["id", "status"]),
    )
    .output(object(
        json!({ "id": id, "status": status, "previous": status }),
        &["id", "status", "previous"],
    ))
    .run(move |PromoteInput { id, status }: PromoteInput| {
        let ledger = Arc::clone(&ledger);
        async move {
            let previous = ledger.promote(id, status).ok_or_else(|| {
                ToolError::new(
                    "not_found",
                    format!("there is no shipment {id}; Shipping.list() shows all"),
                )
            })?;
            Ok(Promoted { id, status, previous })
        }
    })
}

#[derive(Deserialize)]
struct LogInput {}

pub(crate) fn log(logbook: &Arc<Logbook>) -> Arc<dyn Tool> {
    let logbook = Arc::clone(logbook);
    define_tool(
        "shipping_log",
        "What became of promotions so far, oldest first",
        object(json!({}), &[]),
    )
    .output(json!({ "type": "array", "items": note() }))
    .read_only()
    .replay_safe()
    .run(move |LogInput {}: LogInput| {
        let notes = logbook.notes();
        async move { Ok(notes) }
    })
}

fn note() -> Value {
    let event = json!({ "enum": ["passed", "refused", "promoted", "failed"] });
    object(
        json!({ "shipment": { "type": "integer" }, "event": event, "fromCell": { "type": "boolean" } }),
        &["shipment", "event", "fromCell"],
    )
}

fn shipment() -> Value {
    object(
        json!({ "id": { "type": "integer" }, "paid": { "type": "boolean" }, "tons": { "type": "number" } }),
        &["id", "paid", "tons"],
    )
}

fn status() -> Value {
    json!({ "enum": ["booked", "loaded", "shipped"] })
}

/// The schema of an object with these properties and no others.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}
