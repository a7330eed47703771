//! `cargo xtask search-eval`: how good the search over the catalog is, and how fast.
//!
//! The measuring is an example of the catalog's crate, run as a process: this crate knows no crate of the product.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::workspace;

/// Tools, tasks, and which tools they need.
const BENCHMARK: &str = "fixtures/search/livemcp.json";

#[derive(Args)]
pub(crate) struct Options {
    /// Fails when too few of the needed tools are found, and measures no time.
    #[arg(long)]
    check: bool,
    /// Tools and tasks of your own, in the form of `fixtures/search/livemcp.json`.
    file: Option<PathBuf>,
}

/// Measures, or checks.
pub(crate) fn run(options: Options) -> Result<()> {
    let file = match options.file {
        Some(file) => file
            .canonicalize()
            .with_context(|| format!("there is no `{}`", file.display()))?,
        None => workspace::root().join(BENCHMARK),
    };
    let mut command = workspace::cargo();
    command.args([
        "run",
        "--quiet",
        "--package",
        "codecell-catalog",
        "--example",
        "search_eval",
    ]);
    if !options.check {
        // Recall is the same in every build; times are not, and a check should not wait for a second build.
        command.arg("--release");
    }
    command.arg("--").arg(file);
    if options.check {
        command.arg("--check");
    }
    let status = command.status().context("starting cargo")?;
    if !status.success() {
        bail!("the search is not good enough, or could not be measured ({status})");
    }
    Ok(())
}
