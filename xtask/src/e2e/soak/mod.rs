//! Load for as long as is asked: every answer is the right one, and nothing grows.

mod bounded;
mod cells;
mod dice;
mod fault;
mod front;
mod holds;
mod kinds;
mod ledger;
mod long;
mod look;
mod model;
mod road;
mod rude;
pub(crate) mod server;
mod servers;
mod turns;
mod visits;
mod world;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// How much load, and on what.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Uses this binary instead of building a release.
    #[arg(long, value_name = "PATH")]
    pub(crate) binary: Option<PathBuf>,
    /// Goes on for so many minutes, with everything that clients do and with faults on every side; without it, a few
    /// waves of turns.
    #[arg(long)]
    pub(crate) minutes: Option<u64>,
    /// Turns at once, of the waves.
    #[arg(long, default_value_t = 200)]
    pub(crate) turns: usize,
    /// Clients at once, of the minutes.
    #[arg(long, default_value_t = 16)]
    pub(crate) clients: usize,
    /// Where the choices of the minutes begin.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

impl Options {
    /// A few waves of 200 turns against a release.
    pub(crate) fn bounded() -> Options {
        Options {
            binary: None,
            minutes: None,
            turns: 200,
            clients: 16,
            seed: 1,
        }
    }
}

/// Runs the load and prints what it found.
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = match &options.binary {
        Some(path) => path
            .canonicalize()
            .with_context(|| format!("there is no `{}`", path.display()))?,
        None => release()?,
    };
    match options.minutes {
        None => bounded::run(&binary, options.turns),
        Some(minutes) => long::run(&binary, minutes, options.clients, options.seed),
    }
}

fn release() -> Result<PathBuf> {
    let status = workspace::cargo()
        .args([
            "build",
            "--release",
            "--quiet",
            "--package",
            "codecell-gateway",
            "--bins",
        ])
        .status()?;
    ensure!(status.success(), "building the gateway failed ({status})");
    Ok(workspace::target_dir()?.join("release/codecell"))
}
