//! `cargo xtask e2e`: plays the product from outside, with real processes and real pipes.

mod agent;
mod approvals;
mod cell;
mod commands;
mod conformance;
mod core_tools;
mod door;
mod hostile;
mod plugin;
mod policy;
pub(crate) mod real;
mod room;
mod runs;
pub(crate) mod soak;
mod steps;
mod upstreams;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace;
use room::Room;
use steps::{Chain, Steps};

/// What to play.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Plays this binary instead of building one.
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Also plays servers and clients that nobody here wrote (installed from npm and PyPI).
    #[arg(long)]
    real: bool,
    /// Also plays the official conformance suite of MCP, as a client and as a server; part of `--real` (installed from npm).
    #[arg(long)]
    conformance: bool,
    /// Also drives whole agent hosts, with a scripted model in the place of a hosted one (installed from npm).
    #[arg(long)]
    hosts: bool,
    /// Also drives every recorded server of this folder.
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Plays only the steps whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Plays everything that was asked for; an error names the steps that failed.
pub(crate) fn run(options: Options) -> Result<()> {
    let binary = match options.binary {
        Some(path) => path
            .canonicalize()
            .with_context(|| format!("there is no `{}`", path.display()))?,
        None => build()?,
    };
    let warm = warm_room(&binary)?;
    let mut steps = Steps::new(binary, warm, options.only);
    commands::play(&mut steps);
    hostile::play(&mut steps);
    door::play(&mut steps);
    cell::play(&mut steps);
    runs::play(&mut steps);
    policy::play(&mut steps);
    approvals::play(&mut steps);
    core_tools::play(&mut steps);
    plugin::play(&mut steps);
    agent::play_seed(&mut steps);
    agent::play_turns(&mut steps);
    agent::play_operator(&mut steps);
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
    if options.real || options.conformance {
        conformance::play(&mut steps)?;
    }
    if options.hosts {
        real::play_hosts(&mut steps)?;
    }
    steps.finish()
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
