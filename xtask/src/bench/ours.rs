//! The library, measured by the example `bench` of `codecell`.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};

use super::rows::{Row, printed};
use crate::workspace::{cargo, target_dir};

pub(super) const GROUPS: &[&str] = &["cells", "typescript", "cpu", "images", "catalogs"];

/// The program that measures the library.
pub(super) struct Library(PathBuf);

impl Library {
    pub(super) fn build() -> Result<Library> {
        release(&["--package", "codecell", "--example", "bench"])?;
        Ok(Library(target_dir()?.join("release/examples/bench")))
    }

    pub(super) fn measure(&self, group: &str) -> Result<Vec<Row>> {
        let mut bench = Command::new(&self.0);
        bench.args(["--json", group]);
        printed(&mut bench, "the benchmark of the library")
    }
}

/// Builds something for release. Once, and not before each group: a build disturbs what is measured after it.
pub(super) fn release(what: &[&str]) -> Result<()> {
    let status = cargo()
        .args(["build", "--release", "--quiet"])
        .args(what)
        .status()
        .context("starting cargo")?;
    ensure!(
        status.success(),
        "`cargo build --release {}` failed ({status})",
        what.join(" ")
    );
    Ok(())
}
