//! A program that does not end: how late it is stopped, and what a neighbour feels.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};

use super::{
    home::Home,
    web_client::{Client, Serve},
};
use crate::bench::rows::{Row, Unit};

const GROUP: &str = "runaway";
const LIMIT: Duration = Duration::from_millis(100);
const RUNS: u32 = 30;

pub(super) fn measure(binary: &Path) -> Result<Vec<Row>> {
    let home = Home::new(binary)?;
    let serve = Serve::start(&home, LIMIT)?;
    let (mut wild, mut neighbour) = (serve.client()?, serve.client()?);
    wild.exec("for (;;) {}", "failed")?;
    // As long as the loops will take, so that both tails come from as many cells.
    let quiet = Instant::now() + LIMIT * RUNS;
    beside(&mut neighbour, || Instant::now() < quiet)?;
    let quiet = Instant::now() + LIMIT * RUNS;
    let alone = beside(&mut neighbour, || Instant::now() < quiet)?;
    let over = AtomicBool::new(false);
    let (late, disturbed) = thread::scope(|scope| {
        let neighbour = scope.spawn(|| beside(&mut neighbour, || !over.load(Ordering::Relaxed)));
        let late = (0..RUNS)
            .map(|_| Ok(wild.exec("for (;;) {}", "failed")?.saturating_sub(LIMIT)))
            .collect::<Result<Vec<_>>>();
        over.store(true, Ordering::Relaxed);
        let disturbed = neighbour.join().map_err(|_| anyhow!("the neighbour panicked"))?;
        Ok::<_, anyhow::Error>((late?, disturbed?))
    })?;
    serve.stop()?;
    let row = |what, unit, times| Row::times(GROUP, what, unit, times);
    Ok(vec![
        row(
            "`for (;;) {}`, past its limit of 100 ms",
            Unit::Milliseconds,
            late,
        ),
        row("a neighbour's `return 1`, alone", Unit::Microseconds, alone),
        row(
            "a neighbour's `return 1`, beside the loop",
            Unit::Microseconds,
            disturbed,
        ),
    ])
}

/// The times of trivial cells while something else goes on.
fn beside(client: &mut Client, goes_on: impl Fn() -> bool) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    while goes_on() {
        times.push(client.exec("return 1", "completed")?);
    }
    Ok(times)
}
