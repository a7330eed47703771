//! Runs scripts in fresh guests, for `cargo xtask test262`: one job a line on standard input, one outcome a line on
//! standard output, in the order in which they end.
//!
//! The scripts of a job are evaluated one after another as global code, by an indirect `eval` of the cell: what they
//! meet is what a cell meets. An outcome is empty if all went well.
#![expect(clippy::print_stdout, reason = "outcomes are told on standard output")]

use std::error::Error;
use std::io::{self, BufRead, BufReader, Stdin};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use codecell_bridge::{Call, CallId, Cell, Fault, Guest, Output, OutputFull, Report, Stop, Thrown, WallHost};
use codecell_guest_runtime::{Engine, EngineOptions, VmLimits};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// What a job may take. Far more than any needs: a busy machine must not change an outcome.
const BUDGET: Duration = Duration::from_secs(60);

/// Jobs that are under way at once.
const WORKERS: usize = 4;

/// What the cell does with `SCRIPTS`; kept small, since the scripts may have replaced what it is made of.
const CELL: &str = r#"
const told = (thrown) => {
  try {
    return typeof thrown === "object" && thrown !== null
      ? `${thrown.constructor.name}: ${thrown.message}` : `thrown: ${String(thrown)}`;
  } catch {
    return "thrown: something unreadable";
  }
};
let settle;
const end = new Promise((resolve) => { settle = resolve; });
globalThis.$DONE = (error) => settle(error ? told(error) : "");
try {
  for (let i = 0; i < SCRIPTS.length; i++) (0, eval)(SCRIPTS[i]);
} catch (error) {
  return told(error);
}
return IS_ASYNC ? await end : "";
"#;

#[derive(Deserialize)]
struct Job {
    /// What the outcome is told under.
    name: String,
    /// Files, in the order in which they are evaluated.
    scripts: Vec<String>,
    /// Whether the last of them is strict code.
    strict: bool,
    /// Whether it ends with a call of `$DONE`.
    #[serde(rename = "async")]
    is_async: bool,
}

/// Nobody to ask, nothing to call, and no interest in output.
struct Alone;

impl WallHost for Alone {
    fn query(&mut self, _question: &str) -> Result<String, Thrown> {
        Ok("[]".into())
    }
    fn call(&mut self, _call: Call) -> Result<(), Thrown> {
        Err(Thrown::error("unavailable", "nobody is here"))
    }
    fn withdraw(&mut self, _id: CallId) {}
    fn output(&mut self, _output: Output) -> Result<(), OutputFull> {
        Ok(())
    }
    fn overflow(&mut self, _head: String, _more: usize) {}
}

fn cell(job: &Job) -> io::Result<Cell> {
    let mut scripts = job
        .scripts
        .iter()
        .map(std::fs::read_to_string)
        .collect::<io::Result<Vec<_>>>()?;
    if job.strict
        && let Some(last) = scripts.last_mut()
    {
        last.insert_str(0, "\"use strict\";\n");
    }
    let code = format!(
        "const SCRIPTS = {};\nconst IS_ASYNC = {};\n{CELL}",
        json!(scripts),
        job.is_async
    );
    Ok(Cell {
        code,
        seed: [1, 2],
        output_bytes: 65_536,
    })
}

async fn outcome(engine: &Engine, job: &Job) -> Result<String, Box<dyn Error + Send + Sync>> {
    let cell = cell(job)?;
    let stop = Stop {
        deadline: Instant::now() + BUDGET,
        cancel: CancellationToken::new(),
    };
    let mut vm = engine.start(VmLimits::default(), Box::new(Alone), &stop).await?;
    Ok(match vm.eval(&cell, &stop).await {
        Ok(Report::Completed { value }) => value.read().unwrap_or_else(|_| value.to_string()),
        Ok(Report::Failed { error }) => format!("{}: {}", error.name, error.message),
        Ok(Report::Pending | Report::Idle) => "never done".into(),
        Err(Fault::Deadline) => "out of time".into(),
        Err(fault) => fault.to_string(),
    })
}

async fn work(engine: Engine, lines: &Mutex<io::Lines<BufReader<Stdin>>>) {
    loop {
        let line = lines.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(Ok(line)) = line else { return };
        let (name, told) = match serde_json::from_str::<Job>(&line) {
            Ok(job) => {
                let told = outcome(&engine, &job).await;
                (job.name, told.unwrap_or_else(|error| format!("not run: {error}")))
            }
            Err(error) => (line, format!("not run: {error}")),
        };
        println!("{}", Value::from(vec![name, told]));
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new(EngineOptions::default())?;
    // Workers live as long as the process.
    let lines: &'static _ = Box::leak(Box::new(Mutex::new(BufReader::new(io::stdin()).lines())));
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| tokio::spawn(work(engine.clone(), lines)))
        .collect();
    for worker in workers {
        worker.await?;
    }
    Ok(())
}
