//! The three programs, as a model would write them.
use std::time::Duration;

use codecell::{CellResult, Output};
use serde_json::Value;

use super::render::Leg;

/// One program and what comes of it.
pub(super) struct Scene {
    pub(super) title: &'static str,
    /// What somebody asks, and what to look out for.
    pub(super) introduction: &'static str,
    pub(super) language: &'static str,
    pub(super) program: &'static str,
    /// Budget of each `exec` and `wait`.
    pub(super) timeout: Duration,
    /// Whether the results, first to last, are what the scene promises.
    pub(super) expectation: fn(&[Leg]) -> bool,
}

pub(super) const SCENES: [Scene; 3] = [
    Scene {
        title: "Find the tools",
        introduction: "The model knows no tool of the shop yet. One program searches the catalog and reads the \
            TypeScript declaration of the best hit. No tool is called.",
        language: "javascript",
        program: r#"const hits = await MCP.$search("orders of a customer", { limit: 3 });
const file = await API.read("mcp/shop.d.ts");
const lines = file.split("\n");
const start = lines.findIndex((line) => line.includes(" listOrders("));
text(lines.slice(start, start + 5).join("\n"));
return hits.map((hit) => hit.path);"#,
        timeout: Duration::from_secs(10),
        expectation: finds_tools,
    },
    Scene {
        title: "Join data from many calls",
        introduction: "\"What can we not deliver?\" One program reads every open order, asks for the stock of every \
            product in them at the same time, and returns a few lines. The orders themselves never \
            reach the model.",
        language: "typescript",
        program: r#"type Line = { sku: string; quantity: number };
type Order = { id: string; lines: Line[] };

const answers = await Promise.all([
  MCP.shop.listOrders({ status: "placed" }),
  MCP.shop.listOrders({ status: "packed" }),
]);
const open: Order[] = answers.flatMap(
  (answer) => answer.structuredContent.orders,
);

const wanted = new Map<string, number>();
for (const line of open.flatMap((order) => order.lines)) {
  wanted.set(line.sku, (wanted.get(line.sku) ?? 0) + line.quantity);
}
const stock = await Promise.all(
  [...wanted.keys()].map((sku) => MCP.shop.stockLevel({ sku })),
);

const short = stock
  .map((answer) => answer.structuredContent)
  .map(({ sku, onHand }) => ({ sku, missing: wanted.get(sku)! - onHand }))
  .filter((row) => row.missing > 0)
  .sort((a, b) => b.missing - a.missing);
return {
  openOrders: open.length,
  short: short.slice(0, 4).map((row) => `${row.missing} x ${row.sku}`),
};"#,
        timeout: Duration::from_secs(10),
        expectation: joins_data,
    },
    Scene {
        title: "Survive a slow call",
        introduction: "The report takes longer than a cell may run, here one second. The cell is suspended: its VM \
            becomes a small image, the report goes on, and `wait` continues the program where it stood. \
            The payment provider is down, which the program sees and handles.",
        language: "typescript",
        program: r#"const report = MCP.shop.buildReport({ month: 9, seconds: 2.5 });
const payment = await MCP.shop.flakyPaymentStatus({ order_id: "o-1001" });
if (payment.isError) text("payment: " + payment.content[0].text);

const { revenueCents, bestSeller } = (await report).structuredContent;
return { revenue: (revenueCents / 100).toFixed(2) + " EUR", bestSeller };"#,
        timeout: Duration::from_secs(1),
        expectation: survives,
    },
];

/// The value of the last leg, if the run completed.
fn value(legs: &[Leg]) -> Option<Value> {
    match &legs.last()?.result {
        CellResult::Completed { value, .. } => value.read().ok(),
        _ => None,
    }
}

fn finds_tools(legs: &[Leg]) -> bool {
    let [
        Leg {
            result: CellResult::Completed { value, output, .. },
            calls,
            ..
        },
    ] = legs
    else {
        return false;
    };
    let hits: Vec<String> = value.read().unwrap_or_default();
    let declared = output
        .iter()
        .any(|entry| matches!(entry, Output::Text { text } if text.contains("customer_id?")));
    calls.is_empty() && hits.iter().any(|hit| hit == "MCP.shop.listOrders") && declared
}

fn joins_data(legs: &[Leg]) -> bool {
    let calls: usize = legs.iter().map(|leg| leg.calls.len()).sum();
    let short = value(legs).and_then(|value| Some(value.get("short")?.as_array()?.len()));
    calls > 5 && short.is_some_and(|rows| rows > 0)
}

fn survives(legs: &[Leg]) -> bool {
    let suspended = matches!(
        legs.first().map(|leg| &leg.result),
        Some(CellResult::Waiting { .. })
    );
    let revenue = value(legs).and_then(|value| Some(value.get("revenue")?.as_str()?.ends_with(" EUR")));
    suspended && legs.len() > 1 && revenue == Some(true)
}
