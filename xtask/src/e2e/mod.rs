//! `cargo xtask e2e`: plays the product from outside, with real processes and real pipes.

mod approvals;
mod cell;
mod commands;
mod core_tools;
mod door;
mod hostile;
mod plugin;
mod policy;
mod real;
mod room;
mod runs;
mod upstreams;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{process, workspace};
use room::Room;

/// What to play.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Plays this binary instead of building one.
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Also plays servers and clients that nobody here wrote (installed from npm and PyPI).
    #[arg(long)]
    real: bool,
    /// Also drives every recorded server of this folder.
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Plays only the steps whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Longest a process may outlive the step that started it.
const FAREWELL: Duration = Duration::from_secs(5);

/// Plays steps one after the other and remembers which failed.
pub(crate) struct Steps {
    binary: PathBuf,
    /// Where the guest has been compiled, so that no other step pays for that.
    warm: Room,
    only: Option<String>,
    passed: usize,
    failed: Vec<String>,
}

impl Steps {
    /// Plays one step in a room of its own, and looks whether it left processes behind.
    fn play(&mut self, name: &str, step: impl FnOnce(&Room) -> Result<()>) {
        self.play_with(&self.binary.clone(), name, step);
    }

    /// As [`play`](Self::play), with another program that is a gateway.
    fn play_with(&mut self, binary: &Path, name: &str, step: impl FnOnce(&Room) -> Result<()>) {
        if self
            .only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            return;
        }
        let started = Instant::now();
        let outcome = Room::new(binary, Some(&self.warm)).and_then(|room| {
            let outcome = step(&room);
            let orphans = process::until(FAREWELL, "the end of every process", || {
                process::marked(room.marker()).is_empty().then_some(())
            });
            for left in process::marked(room.marker()) {
                process::kill(left)?;
            }
            outcome.and(orphans.context("processes were left behind"))
        });
        let took = started.elapsed().as_millis();
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("ok    {name} ({took} ms)");
            }
            Err(error) => {
                self.failed.push(name.to_owned());
                println!("FAIL  {name} ({took} ms)");
                for line in format!("{error:#}").lines() {
                    println!("      {line}");
                }
            }
        }
    }
}

/// Plays everything that was asked for; an error names the steps that failed.
pub(crate) fn run(options: Options) -> Result<()> {
    let binary = match options.binary {
        Some(path) => path
            .canonicalize()
            .with_context(|| format!("there is no `{}`", path.display()))?,
        None => build()?,
    };
    let mut steps = Steps {
        warm: warm_room(&binary)?,
        binary,
        only: options.only,
        passed: 0,
        failed: Vec::new(),
    };
    commands::play(&mut steps);
    hostile::play(&mut steps);
    door::play(&mut steps);
    cell::play(&mut steps);
    runs::play(&mut steps);
    policy::play(&mut steps);
    approvals::play(&mut steps);
    core_tools::play(&mut steps);
    plugin::play(&mut steps);
    upstreams::play(&mut steps);
    let mut recorded = vec![workspace::root().join("fixtures/mcp")];
    if let Some(corpus) = options.corpus {
        let absolute = corpus.canonicalize();
        recorded.push(absolute.with_context(|| format!("there is no `{}`", corpus.display()))?);
    }
    for folder in &recorded {
        upstreams::play_recorded(&mut steps, folder);
    }
    if options.real {
        real::play(&mut steps, &recorded)?;
    }
    println!("e2e: {} passed, {} failed", steps.passed, steps.failed.len());
    if !steps.failed.is_empty() {
        bail!("failed: {}", steps.failed.join(", "));
    }
    Ok(())
}

/// Runs one cell for the sake of what it leaves in the cache; whether it works is for the steps to say.
fn warm_room(binary: &Path) -> Result<Room> {
    let room = Room::new(binary, None)?;
    let _ = room.run(["exec", "--code", "return 1"], "");
    Ok(room)
}

/// Builds the gateway, and the one with the example's plugin beside it, with the profile that the tests use, so that
/// nothing heavy is compiled twice.
fn build() -> Result<PathBuf> {
    let status = workspace::cargo()
        .args([
            "build",
            "--quiet",
            "--package",
            "codecell-gateway",
            "--package",
            "codecell-shipping-plugin",
            "--bins",
        ])
        .status()?;
    if !status.success() {
        bail!("building the gateway failed ({status})");
    }
    Ok(workspace::target_dir()?.join("debug/codecell"))
}
