//! Plays steps and remembers which failed.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use super::room::Room;
use crate::process;

/// Longest a process may outlive the step that started it.
const FAREWELL: Duration = Duration::from_secs(5);

/// Plays steps one after the other.
pub(crate) struct Steps {
    pub(super) binary: PathBuf,
    /// Where the guest has been compiled, so that no other step pays for that.
    warm: Room,
    only: Option<String>,
    passed: usize,
    failed: Vec<String>,
}

impl Steps {
    /// Steps for this binary; of all of them only those whose name contains `only`.
    pub(super) fn new(binary: PathBuf, warm: Room, only: Option<String>) -> Steps {
        Steps {
            binary,
            warm,
            only,
            passed: 0,
            failed: Vec::new(),
        }
    }

    /// Whether a step of this name was asked for.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }

    /// Plays one step in a room of its own, and looks whether it left processes behind.
    pub(super) fn play(&mut self, name: &str, step: impl FnOnce(&Room) -> Result<()>) {
        self.play_with(&self.binary.clone(), name, step);
    }

    /// As [`play`](Self::play), with another program that is a gateway.
    pub(super) fn play_with(&mut self, binary: &Path, name: &str, step: impl FnOnce(&Room) -> Result<()>) {
        if !self.wants(name) {
            return;
        }
        let started = Instant::now();
        let outcome = Room::new(binary, Some(&self.warm)).and_then(|room| {
            let outcome = step(&room);
            outcome.and(no_orphans(&room))
        });
        self.report(name, started, outcome);
    }

    /// Plays steps that build on one another in one room, if one of these names was asked for.
    ///
    /// The last thing looked at is whether processes were left behind.
    pub(super) fn chain(
        &mut self,
        binary: &Path,
        names: &[String],
        story: impl FnOnce(&mut Chain<'_>, &Room),
    ) {
        if !names.iter().any(|name| self.wants(name)) {
            return;
        }
        let Some(first) = names.first() else {
            return;
        };
        let started = Instant::now();
        match Room::new(binary, Some(&self.warm)) {
            Ok(room) => {
                story(&mut Chain { steps: self }, &room);
                if let Err(error) = no_orphans(&room) {
                    self.report(&format!("{first} … and all after it"), started, Err(error));
                }
            }
            Err(error) => self.report(first, started, Err(error)),
        }
    }

    fn report(&mut self, name: &str, started: Instant, outcome: Result<()>) {
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

    /// Says how it went; an error names the steps that failed.
    pub(super) fn finish(self) -> Result<()> {
        println!("e2e: {} passed, {} failed", self.passed, self.failed.len());
        if !self.failed.is_empty() {
            bail!("failed: {}", self.failed.join(", "));
        }
        Ok(())
    }
}

/// Ends what a step left behind; that it did is an error.
fn no_orphans(room: &Room) -> Result<()> {
    let orphans = process::until(FAREWELL, "the end of every process", || {
        process::marked(room.marker()).is_empty().then_some(())
    });
    for left in process::marked(room.marker()) {
        process::kill(left)?;
    }
    orphans.context("processes were left behind")
}

/// Steps that build on one another. One that lacks what an earlier one should have given is a failure too.
pub(crate) struct Chain<'a> {
    steps: &'a mut Steps,
}

impl Chain<'_> {
    /// Whether a step of this name was asked for.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.steps.wants(name)
    }

    /// Plays a step that needs nothing.
    pub(super) fn step<T>(&mut self, name: &str, step: impl FnOnce() -> Result<T>) -> Option<T> {
        let started = Instant::now();
        let outcome = step();
        let (value, outcome) = match outcome {
            Ok(value) => (Some(value), Ok(())),
            Err(error) => (None, Err(error)),
        };
        self.steps.report(name, started, outcome);
        value
    }

    /// Plays a step that looks at what an earlier one gave.
    pub(super) fn given<N, T>(
        &mut self,
        name: &str,
        needed: Option<&N>,
        step: impl FnOnce(&N) -> Result<T>,
    ) -> Option<T> {
        self.step(name, || step(needed.context(SKIPPED)?))
    }

    /// Plays a step that uses up what an earlier one gave.
    pub(super) fn taking<N, T>(
        &mut self,
        name: &str,
        needed: Option<N>,
        step: impl FnOnce(N) -> Result<T>,
    ) -> Option<T> {
        self.step(name, || step(needed.context(SKIPPED)?))
    }
}

const SKIPPED: &str = "skipped, because what it needs was not given by an earlier step";
