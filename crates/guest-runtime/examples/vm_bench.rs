//! Measures what a cell costs before it does anything: `cargo run --release -p codecell-guest-runtime --example vm_bench`.
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

use std::error::Error;
use std::time::{Duration, Instant};

use codecell_bridge::{
    Answer, Call, CallId, Cell, Guest, Json, Output, OutputFull, Reply, Report, Stop, Thrown, WallHost,
};
use codecell_guest_runtime::{Engine, EngineOptions, VmLimits};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 2000;

/// Takes every call and answers no question but one.
struct Quiet;

impl WallHost for Quiet {
    fn query(&mut self, _question: &str) -> Result<String, Thrown> {
        Ok("[]".into())
    }
    fn call(&mut self, _call: Call) -> Result<(), Thrown> {
        Ok(())
    }
    fn withdraw(&mut self, _id: CallId) {}
    fn output(&mut self, _output: Output) -> Result<(), OutputFull> {
        Ok(())
    }
    fn overflow(&mut self, _head: String, _more: usize) {}
}

fn soon() -> Stop {
    Stop {
        deadline: Instant::now() + Duration::from_secs(30),
        cancel: CancellationToken::new(),
    }
}

fn cell(code: &str) -> Cell {
    Cell {
        code: code.into(),
        seed: [1, 2],
        output_bytes: 65_536,
    }
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| {
        times
            .get(times.len() * share / 100)
            .copied()
            .unwrap_or_default()
            .as_micros()
    };
    println!("{what:<44} p50 {:>6} µs   p99 {:>6} µs", at(50), at(99));
}

async fn fresh(engine: &Engine) -> Result<Duration, Box<dyn Error>> {
    let begun = Instant::now();
    let stop = soon();
    let mut vm = engine.start(VmLimits::default(), Box::new(Quiet), &stop).await?;
    let report = vm.eval(&cell("return 1+1"), &stop).await?;
    drop(vm);
    let taken = begun.elapsed();
    if report
        != (Report::Completed {
            value: Json::parse("2")?,
        })
    {
        return Err(format!("unexpected {report:?}").into());
    }
    Ok(taken)
}

async fn pause(engine: &Engine, code: &str) -> Result<(Duration, Duration, usize), Box<dyn Error>> {
    let stop = soon();
    let mut vm = engine.start(VmLimits::default(), Box::new(Quiet), &stop).await?;
    vm.eval(&cell(code), &stop).await?;
    let begun = Instant::now();
    let image = vm.suspend(usize::MAX).await?;
    let suspended = begun.elapsed();
    let begun = Instant::now();
    let mut vm = engine
        .restore(image.as_bytes(), VmLimits::default(), Box::new(Quiet), &stop)
        .await?;
    let reply = Reply {
        id: CallId(1),
        answer: Answer::Ok(Json::null()),
    };
    let report = vm.settle(&[reply], &stop).await?;
    let resumed = begun.elapsed();
    if !matches!(report, Report::Completed { .. }) {
        return Err(format!("unexpected {report:?}").into());
    }
    Ok((suspended, resumed, image.len()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    for what in ["first start of an engine", "next start of an engine"] {
        let begun = Instant::now();
        let engine = Engine::new(EngineOptions::default())?;
        fresh(&engine).await?;
        println!("{what:<44} {:>10} µs", begun.elapsed().as_micros());
    }
    let engine = Engine::new(EngineOptions::default())?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.push(fresh(&engine).await?);
    }
    show("fresh VM, `return 1+1`, drop", times);

    let small = "const x = await tools.callValue('a', 1); return x";
    let array = "const list = Array.from({ length: 1000 }, (_, i) => ({ id: i, name: 'item ' + i })); \
                 await tools.callValue('a', 1); return list.length";
    for (what, code) in [("small cell", small), ("cell with 1,000 objects", array)] {
        let (mut suspends, mut resumes, mut size) = (Vec::new(), Vec::new(), 0);
        for _ in 0..ROUNDS {
            let (suspended, resumed, bytes) = pause(&engine, code).await?;
            suspends.push(suspended);
            resumes.push(resumed);
            size = bytes;
        }
        show(&format!("{what}: suspend"), suspends);
        show(&format!("{what}: restore and resume"), resumes);
        println!("{what:<30} image {:>21} bytes", size);
    }
    Ok(())
}
