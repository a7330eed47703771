//! The process that runs the tests: an example of the guest's runtime. This crate knows no crate of the product.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::plan::Run;
use crate::workspace::example;

/// How each run ended, by its name. Nothing was thrown where it is empty.
pub(super) fn outcomes(runs: &BTreeMap<String, Run>) -> Result<BTreeMap<String, String>> {
    let mut child = Command::new(example("scripts")?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting what runs the tests")?;
    let mut jobs = child.stdin.take().context("a pipe to what runs the tests")?;
    let told = child.stdout.take().context("a pipe from what runs the tests")?;

    let outcomes = thread::scope(|scope| -> Result<_> {
        let writer = scope.spawn(move || {
            for (name, run) in runs {
                let job = json!({
                    "name": name, "scripts": run.scripts, "strict": run.strict, "async": run.is_async,
                });
                writeln!(jobs, "{job}")?;
            }
            Ok::<(), std::io::Error>(())
        });
        let mut outcomes = BTreeMap::new();
        for line in BufReader::new(told).lines() {
            let (name, told): (String, String) = serde_json::from_str(&line?)?;
            outcomes.insert(name, told);
        }
        // A pipe that broke shows in what was told: some runs have no outcome.
        let _ = writer.join();
        Ok(outcomes)
    })?;
    let ended = child.wait()?;
    ensure!(ended.success(), "what runs the tests ended early ({ended})");
    Ok(outcomes)
}
