//! Cells that run to their end.

use std::time::Instant;

use serde_json::json;

use crate::table::Table;
use crate::world::{Failure, World, context, tools};

const GROUP: &str = "cells";
const RUNS: usize = 400;

pub(crate) async fn measure(world: &World, table: &mut Table) -> Result<(), Failure> {
    let context = context(tools(10));
    let cell = |code: &str| json!({ "code": code });

    let trivial = world.time(&cell("return 1+1"), &context, 4 * RUNS).await?;
    table.times(GROUP, "fresh VM, `return 1+1`", trivial);
    for tool in ["tool_1", "later"] {
        let call = format!("tools.callValue('openclaw:core:{tool}', {{ i }})");
        let mut none = 0.0;
        for calls in [0_u32, 1, 10, 100] {
            let code = format!("for (let i = 0; i < {calls}; i++) await {call}; return 1");
            let times = world.time(&cell(&code), &context, RUNS).await?;
            let what = format!("{calls} calls of `{tool}`, one after the other");
            let p50 = table.times(GROUP, what, times);
            match calls {
                0 => none = p50,
                100 => {
                    let one = (p50 - none) / 100.0;
                    table.number(GROUP, format!("  one more of them (`{tool}`)"), one, "µs");
                }
                _ => {}
            }
        }
        for calls in [10, 100] {
            let code =
                format!("await Promise.all(Array.from({{ length: {calls} }}, (_, i) => {call})); return 1");
            let times = world.time(&cell(&code), &context, RUNS).await?;
            table.times(GROUP, format!("{calls} calls of `{tool}` at once"), times);
        }
    }
    for clients in [1, 16] {
        let rate = throughput(world, &context, clients).await?;
        table.number(
            GROUP,
            format!("`return 1+1`, {clients} at a time"),
            rate,
            "cells/s",
        );
    }
    Ok(())
}

async fn throughput(world: &World, context: &codecell::RunContext, clients: usize) -> Result<f64, Failure> {
    const CELLS: usize = 8_000;
    let each = CELLS / clients;
    let start = Instant::now();
    let clients: Vec<_> = (0..clients)
        .map(|_| {
            let (codecell, context) = (world.codecell.clone(), context.clone());
            tokio::spawn(async move {
                for _ in 0..each {
                    codecell
                        .exec(&json!({ "code": "return 1+1" }), context.clone())
                        .await;
                }
            })
        })
        .collect();
    for client in clients {
        client.await?;
    }
    Ok(CELLS as f64 / start.elapsed().as_secs_f64())
}
