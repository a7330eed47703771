//! How long a process takes to be of use.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::json;

use super::{
    exec,
    home::Home,
    stdio::{LIMIT, check, open},
};
use crate::bench::rows::{Row, Unit};

const GROUP: &str = "start";
const WARM: usize = 20;
const COLD: usize = 3;

pub(super) fn measure(binary: &Path) -> Result<Vec<Row>> {
    let home = Home::new(binary)?;
    let cold = (0..COLD)
        .map(|_| start(&Home::new(binary)?))
        .collect::<Result<_>>()?;
    start(&home)?;
    let warm = (0..WARM).map(|_| start(&home)).collect::<Result<_>>()?;
    let mut rows = Vec::new();
    for (cache, starts) in [("", warm), (", nothing cached", cold)] {
        let (listed, returned) = Vec::into_iter(starts).unzip();
        for (what, times) in [("its list of tools", listed), ("the first `return 1`", returned)] {
            let what = format!("process start to {what}{cache}");
            rows.push(Row::times(GROUP, what, Unit::Milliseconds, times));
        }
    }
    Ok(rows)
}

/// The time from the start of `codecell mcp` to its answered list of tools, and to its first value.
fn start(home: &Home) -> Result<(Duration, Duration)> {
    let began = Instant::now();
    let mut client = open(&mut home.codecell(&["mcp"]))?;
    client.request("tools/list", json!({}))?;
    let listed = began.elapsed();
    let answer = client.request("tools/call", exec("return 1"))?;
    let returned = began.elapsed();
    check("tools/call", &answer)?;
    client.close(LIMIT)?;
    Ok((listed, returned))
}
