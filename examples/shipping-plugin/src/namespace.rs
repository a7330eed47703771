//! The namespace: the tools as a program would like to call them.

use codecell_plugins::{NamespaceTool, Registration, Scope};
use serde_json::{Value, json};

use crate::ledger::MAX_TONS;

pub(crate) fn shipping() -> Registration {
    Registration::new(
        "shipping",
        "Shipping",
        "Shipments: what is booked, what it weighs, what it costs.",
        ["shipping_list", "shipping_quote", "shipping_promote", "shipping_log"],
        |_| {
            Ok(Scope::new()
                .with("list", NamespaceTool::new("shipping_list"))
                .with("unpaidOver", NamespaceTool::new("shipping_list").map_input(unpaid_over))
                .with(
                    "quote",
                    NamespaceTool::new("shipping_quote").positional(["tons", "express"]),
                )
                .with(
                    "promote",
                    NamespaceTool::new("shipping_promote").positional(["id", "status"]),
                )
                .with("log", NamespaceTool::new("shipping_log"))
                .with(
                    "limits",
                    json!({ "maxTons": MAX_TONS, "statuses": ["booked", "loaded", "shipped"] }),
                ))
        },
    )
    .with_prompt(
        "Use Shipping.list({ paid?, overTons? }), Shipping.unpaidOver(tons), Shipping.quote(tons, express?), \
         Shipping.promote(id, status) and Shipping.log(). Shipping.limits has maxTons and statuses. Only paid shipments \
         can be promoted.",
    )
}

/// `unpaidOver(tons)` as an argument of `shipping_list`.
fn unpaid_over(args: Vec<Value>) -> Result<Value, String> {
    match args.as_slice() {
        [tons] => Ok(json!({ "paid": false, "overTons": tons })),
        _ => Err("unpaidOver(tons) takes one number".to_owned()),
    }
}
