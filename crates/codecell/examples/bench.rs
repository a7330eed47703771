//! Measures what a caller of the library waits for. Run by `cargo xtask bench`; read ratios, not milliseconds of
//! somebody else's machine.
#![expect(clippy::print_stdout, reason = "the report is the product")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell::{
    BoxFuture, Caller, Codecell, EngineOptions, Owner, RunContext, Settings, Surface, ToolCall, ToolError,
    ToolExecutor, ToolResult, ToolSpec, Unobserved,
};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// Answers every call with its argument.
struct Echo;

impl ToolExecutor for Echo {
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        Box::pin(async move { Ok(ToolResult::of_value(call.arguments)) })
    }
}

/// Runs whose times are kept, after some that are not.
const WARM_UP: usize = 50;
const RUNS: usize = 400;

#[tokio::main(flavor = "multi_thread")]
async fn main() -> Result<(), Failure> {
    let codecell = Codecell::new(EngineOptions::default())?;
    let few = context(10);
    let many = context(5_000);

    let small = exec(&codecell, &few, "return 1+1").await?;
    report("fresh VM, `return 1+1`", &small);
    let large = exec(&codecell, &many, "return 1+1").await?;
    report("the same before 5,000 tools", &large);
    println!(
        "{:<44} {:>8.2}",
        "  5,000 tools against 10",
        ratio(&large, &small)
    );

    let used = "return (await tools.search('tool number 7')).length";
    let (few_used, many_used) = (
        exec(&codecell, &few, used).await?,
        exec(&codecell, &many, used).await?,
    );
    report("search, 10 tools", &few_used);
    report("search, 5,000 tools", &many_used);

    let ten = "for (let i = 0; i < 10; i++) await tools.callValue('openclaw:core:tool_1', { i }); return 1";
    report(
        "ten calls one after the other",
        &exec(&codecell, &few, ten).await?,
    );
    let parallel = "await Promise.all(Array.from({ length: 10 }, (_, i) => tools.callValue('openclaw:core:tool_1', { i }))); return 1";
    report("ten calls at once", &exec(&codecell, &few, parallel).await?);
    let typescript = typed(&codecell, &few).await?;
    report("a TypeScript cell", &typescript);

    let rows = "const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: `row ${id}` }));";
    for (what, keep) in [
        ("a small cell", "const rows = [1];"),
        ("a cell with 1,000 objects", rows),
    ] {
        let (suspend, resume) = suspension(&codecell, &few, keep).await?;
        report(&format!("suspend {what}"), &suspend);
        report(&format!("restore and resume {what}"), &resume);
    }
    println!(
        "{:<44} {:>8.0} /s",
        "cells, 16 at once",
        throughput(&codecell, &few).await?
    );
    Ok(())
}

fn context(tools: usize) -> RunContext {
    let schema = json!({ "type": "object", "properties": { "i": { "type": "integer" } } });
    let tool = |n| {
        ToolSpec::new(
            Owner::Core,
            format!("tool_{n}"),
            format!("Tool number {n}"),
            schema.clone(),
        )
    };
    RunContext {
        caller: Caller::new("a", "s", "r"),
        surface: Arc::new(Surface::new(
            (0..tools).map(tool).collect(),
            Vec::new(),
            Arc::new(Echo),
        )),
        settings: Settings::default(),
        cancel: Default::default(),
        observer: Arc::new(Unobserved),
    }
}

async fn exec(codecell: &Codecell, context: &RunContext, code: &str) -> Result<Vec<Duration>, Failure> {
    timed(codecell, context, &json!({ "code": code })).await
}

async fn typed(codecell: &Codecell, context: &RunContext) -> Result<Vec<Duration>, Failure> {
    let code = "interface A { n: number }\nconst a: A = { n: 1 };\nreturn a.n + 1";
    timed(
        codecell,
        context,
        &json!({ "code": code, "language": "typescript" }),
    )
    .await
}

async fn timed(codecell: &Codecell, context: &RunContext, cell: &Value) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::with_capacity(RUNS);
    for run in 0..WARM_UP + RUNS {
        let start = Instant::now();
        let result = codecell.exec(cell, context.clone()).await;
        let took = start.elapsed();
        if result.is_failed() {
            return Err(result.to_json_text().into());
        }
        if run >= WARM_UP {
            times.push(took);
        }
    }
    times.sort_unstable();
    Ok(times)
}

async fn suspension(
    codecell: &Codecell,
    context: &RunContext,
    keep: &str,
) -> Result<(Vec<Duration>, Vec<Duration>), Failure> {
    let cell = json!({ "code": format!("{keep} await yield_control(); return rows.length") });
    let (mut suspend, mut resume) = (Vec::new(), Vec::new());
    for run in 0..WARM_UP + RUNS {
        let start = Instant::now();
        let waiting = codecell.exec(&cell, context.clone()).await;
        let parked = start.elapsed();
        let id = waiting.run_id().ok_or_else(|| waiting.to_json_text())?;
        let start = Instant::now();
        let done = codecell.wait(&json!({ "runId": id }), context.clone()).await;
        let resumed = start.elapsed();
        if done.is_failed() {
            return Err(done.to_json_text().into());
        }
        if run >= WARM_UP {
            suspend.push(parked);
            resume.push(resumed);
        }
    }
    suspend.sort_unstable();
    resume.sort_unstable();
    Ok((suspend, resume))
}

async fn throughput(codecell: &Codecell, context: &RunContext) -> Result<f64, Failure> {
    const EACH: usize = 100;
    const TASKS: usize = 16;
    let start = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (codecell, context) = (codecell.clone(), context.clone());
            tokio::spawn(async move {
                for _ in 0..EACH {
                    codecell
                        .exec(&json!({ "code": "return 1+1" }), context.clone())
                        .await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await?;
    }
    Ok((EACH * TASKS) as f64 / start.elapsed().as_secs_f64())
}

fn report(what: &str, sorted: &[Duration]) {
    let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
    println!(
        "{what:<44} {:>8.0} µs p50 {:>8.0} µs p99",
        micros(at(sorted, 50)),
        micros(at(sorted, 99))
    );
}

fn ratio(a: &[Duration], b: &[Duration]) -> f64 {
    at(a, 50).as_secs_f64() / at(b, 50).as_secs_f64()
}

fn at(sorted: &[Duration], percentile: usize) -> Duration {
    sorted
        .get(sorted.len() * percentile / 100)
        .copied()
        .unwrap_or_default()
}
