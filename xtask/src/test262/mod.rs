//! `cargo xtask test262`: the parts of the language's conformance suite that this project could have broken, run in
//! the guest.
//!
//! The engine passes or fails them as its authors left it. What is looked for is what was done to it here: another
//! target, another libc, globals taken away and added, a wrapper around the program. So the list of expected failures
//! is exact: a test that newly fails is an error, and so is one that newly passes.

mod expected;
mod harness;
mod plan;
mod runner;
mod suite;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;

use self::expected::Expected;
use self::harness::Harness;
use self::plan::Plan;
use crate::workspace;

/// The failures that are expected, and why.
const EXPECTED: &str = "fixtures/test262/expected-failures.txt";

/// How many tests of one kind are printed.
const SHOWN: usize = 100;

#[derive(Args)]
pub(crate) struct Options {
    /// Only tests whose path contains this.
    filter: Option<String>,
    /// Changes nothing: fails when the outcome is not exactly what is expected.
    #[arg(long)]
    check: bool,
    /// A folder with the suite as SpiderMonkey's sources have it, instead of the one that is fetched.
    #[arg(long)]
    suite: Option<PathBuf>,
    /// Only fetches the suite, and fails where it cannot be had.
    #[arg(long)]
    fetch: bool,
}

/// Runs the suite; then compares with what is expected, or writes that down.
pub(crate) fn run(options: Options) -> Result<()> {
    let begun = Instant::now();
    let scratch = workspace::target_dir()?.join("test262");
    let suite = match options.suite {
        Some(suite) => suite.canonicalize().context("the folder of the suite")?,
        None => suite::fetched(&scratch)?,
    };
    if options.fetch {
        return Ok(());
    }
    let filter = options.filter.unwrap_or_default();
    let mut harness = Harness::read(&suite, &scratch.join("harness"))?;
    let plan = Plan::read(&suite, &filter, &mut harness)?;
    println!("{} runs; files left out:", plan.runs.len());
    for (reason, files) in &plan.skipped {
        println!("{files:>6}  {reason}");
    }
    let failed = plan::failures(&plan.runs, &runner::outcomes(&plan.runs)?)?;

    let file = workspace::root().join(EXPECTED);
    let text = fs::read_to_string(&file).with_context(|| format!("`{EXPECTED}` cannot be read"))?;
    let mut expected = Expected::parse(&text)?;
    let known = expected.names(&filter);
    let failing: BTreeMap<&str, &str> = failed
        .iter()
        .map(|(name, told)| (name.as_str(), told.as_str()))
        .filter(|(name, _)| !known.contains(*name))
        .collect();
    let passing: BTreeSet<&str> = known
        .iter()
        .map(String::as_str)
        .filter(|name| !failed.contains_key(*name))
        .collect();
    println!(
        "{} passed, {} failed as expected, {} failed that should not, {} passed that should not; {} s",
        plan.runs.len() - failed.len(),
        failed.len() - failing.len(),
        failing.len(),
        passing.len(),
        begun.elapsed().as_secs()
    );
    for (name, told) in failing.iter().take(SHOWN) {
        println!("fails:  {name}\n        {told}");
    }
    for name in passing.iter().take(SHOWN) {
        println!("passes: {name}");
    }
    if options.check {
        ensure!(
            failing.is_empty() && passing.is_empty(),
            "the outcome is not the one in `{EXPECTED}`; `cargo xtask test262` writes it down"
        );
        let unexplained = expected.unexplained();
        ensure!(
            unexplained == 0,
            "{unexplained} lines of `{EXPECTED}` stand under no reason"
        );
        return Ok(());
    }
    let (failing, passing) = (
        failing.into_keys().map(str::to_owned).collect(),
        passing.into_iter().map(str::to_owned).collect(),
    );
    expected.update(failing, &passing);
    fs::write(&file, expected.to_string()).with_context(|| format!("`{EXPECTED}` cannot be written"))
}
