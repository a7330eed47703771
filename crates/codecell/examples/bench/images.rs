//! Cells that wait: suspending them, keeping them, going on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell::{BoxFuture, RunContext};
use codecell_bridge::{
    Call, Cell, Outcome, Outside, Replay, Request, Stop, Thrown, ToolHost, Wall, WallLimits,
};
use codecell_guest_runtime::{Engine, EngineOptions, VmLimits};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::table::Table;
use crate::world::{Failure, World, context, tools};

const GROUP: &str = "images";
const RUNS: usize = 400;

/// A program that keeps next to nothing.
const SMALL: &str = "const rows = [1];";

/// What a program keeps while it waits.
const KEPT: [(&str, &str); 3] = [
    ("a small cell", SMALL),
    (
        "a cell with 1,000 objects",
        "const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: `row ${id}` }));",
    ),
    (
        "a cell with 10 MiB of text",
        "const rows = Array.from({ length: 160 }, (_, id) => String(id % 10).repeat(65536));",
    ),
];

pub(crate) async fn measure(world: &World, table: &mut Table) -> Result<(), Failure> {
    let engine = Engine::new(EngineOptions::default())?;
    // Before anything else: what earlier rows gave back would be taken again without a trace.
    resident(&engine, table).await?;
    for (what, keep) in KEPT {
        let suspended = suspend(&engine, keep).await?;
        let bytes = suspended.image.len() as f64;
        table.number(GROUP, format!("image of {what}"), bytes / 1024.0, "KiB");
    }
    let context = context(tools(10));
    for (what, keep) in KEPT {
        let runs = if what.contains("MiB") { RUNS / 8 } else { RUNS };
        let (exec, wait) = suspension(world, &context, keep, runs).await?;
        table.times(GROUP, format!("exec and suspend {what}"), exec);
        table.times(GROUP, format!("restore and resume {what}"), wait);
    }
    Ok(())
}

/// By how much the process grows with cells that wait.
async fn resident(engine: &Engine, table: &mut Table) -> Result<(), Failure> {
    drop(suspend(engine, SMALL).await?);
    let mut kept = Vec::new();
    let before = resident_bytes();
    for number in [1, 64, 1_000] {
        while kept.len() < number {
            kept.push(suspend(engine, SMALL).await?);
        }
        if let (Some(before), Some(now)) = (before, resident_bytes()) {
            let more = now.saturating_sub(before) as f64 / (1024.0 * 1024.0);
            table.number(GROUP, format!("{number} suspended small cells"), more, "MiB more");
        }
    }
    Ok(())
}

/// The times of `exec` and of `wait` for a program that yields once.
async fn suspension(
    world: &World,
    context: &RunContext,
    keep: &str,
    runs: usize,
) -> Result<(Vec<Duration>, Vec<Duration>), Failure> {
    let cell = json!({ "code": format!("{keep} await yield_control(); return rows.length") });
    let warm_up = runs / 8 + 1;
    let (mut execs, mut waits) = (Vec::new(), Vec::new());
    for run in 0..warm_up + runs {
        let start = Instant::now();
        let waiting = world.exec(&cell, context).await?;
        let parked = start.elapsed();
        let id = waiting.run_id().ok_or("the cell did not wait")?;
        let start = Instant::now();
        let done = world
            .codecell
            .wait(&json!({ "runId": id }), context.clone())
            .await;
        let resumed = start.elapsed();
        if done.is_failed() {
            return Err(done.to_json_text().into());
        }
        if run >= warm_up {
            execs.push(parked);
            waits.push(resumed);
        }
    }
    Ok((execs, waits))
}

/// What is kept of a run beside its surface.
struct Suspended {
    image: Vec<u8>,
    _wall: Wall,
}

async fn suspend(engine: &Engine, keep: &str) -> Result<Suspended, Failure> {
    let stop = Stop {
        deadline: Instant::now() + Duration::from_secs(30),
        cancel: CancellationToken::new(),
    };
    let limits = WallLimits {
        output_bytes: 65_536,
        running_calls: 16,
    };
    let mut wall = Wall::new(Arc::new(Nobody), limits, Replay::Ordinary, Outside::default());
    let mut vm = engine.start(VmLimits::default(), wall.port(), &stop).await?;
    let cell = Cell {
        code: format!("{keep} await yield_control(); return rows.length"),
        seed: [1, 2],
        output_bytes: 65_536,
    };
    let _parked = wall.start(&mut vm, &cell, &stop).await;
    let image = vm.suspend(usize::MAX).await?.into_bytes();
    Ok(Suspended { image, _wall: wall })
}

/// The host of programs that only yield.
struct Nobody;

impl ToolHost for Nobody {
    fn query(&self, _question: &str) -> Result<String, Thrown> {
        Ok("[]".into())
    }

    fn check_replay(&self, _requests: &[&Request]) -> Result<(), String> {
        Ok(())
    }

    fn call(self: Arc<Self>, _call: Call, _cancel: CancellationToken) -> BoxFuture<Outcome> {
        Box::pin(std::future::pending())
    }
}

/// What the system says this process occupies; nothing where it does not say.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
