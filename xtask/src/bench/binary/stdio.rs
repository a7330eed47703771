//! Cells over `codecell mcp`, as the host of an agent drives it.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{exec, handshake, home::Home};
use crate::{
    bench::rows::{Row, Unit},
    mcp::Client,
};

const GROUP: &str = "stdio";
const RUNS: usize = 1_000;

/// Longest that an answer may take.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn measure(binary: &Path) -> Result<Vec<Row>> {
    let home = Home::new(binary)?;
    let mut client = open(&mut home.codecell(&["mcp"]))?;
    let mut rows = Vec::new();
    for (what, method, params) in [
        ("`ping`", "ping", json!({})),
        ("`exec(\"return 1\")`", "tools/call", exec("return 1")),
    ] {
        let mut times = Vec::with_capacity(RUNS);
        let warm_up = RUNS / 8;
        for run in 0..warm_up + RUNS {
            let start = Instant::now();
            let answer = client.request(method, params.clone())?;
            let took = start.elapsed();
            check(method, &answer)?;
            if run >= warm_up {
                times.push(took);
            }
        }
        rows.push(Row::times(GROUP, what, Unit::Microseconds, times));
    }
    client.close(LIMIT)?;
    Ok(rows)
}

/// Starts a gateway and shakes hands.
pub(super) fn open(command: &mut Command) -> Result<Client> {
    let mut client = Client::start(command, LIMIT)?;
    client.request("initialize", handshake())?;
    client.notify("notifications/initialized", json!({}))?;
    Ok(client)
}

/// A call must have come to something: errors are quick.
pub(super) fn check(method: &str, answer: &Value) -> Result<()> {
    ensure!(
        method != "tools/call" || answer["structuredContent"]["status"] == "completed",
        "a cell came to {answer}"
    );
    Ok(())
}
