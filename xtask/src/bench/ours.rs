//! The library, measured by the example `bench` of `codecell`.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};

use super::rows::{Row, printed};
use crate::workspace::{cargo, target_dir};

pub(super) const GROUPS: &[&str] = &["cells", "typescript", "cpu", "images", "catalogs"];

/// Rows in which threads hand over to each other, which are measured on one core as well.
const ON_ONE_CORE: &[&str] = &[
    "fresh VM, `return 1+1`",
    "  one more of them (`tool_1`)",
    "  one more of them (`later`)",
    "`return 1+1` before 10 tools",
    "`return 1+1` before 16500 tools",
];

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
        let mut rows = printed(&mut bench, "the benchmark of the library")?;
        if matches!(group, "cells" | "catalogs") {
            rows.extend(self.on_one_core(group)?);
        }
        Ok(rows)
    }

    /// What is left when no thread ever wakes a sleeping core: what the work itself costs. Nothing without `taskset`.
    fn on_one_core(&self, group: &str) -> Result<Vec<Row>> {
        if Command::new("taskset").arg("--version").output().is_err() {
            return Ok(Vec::new());
        }
        let mut bench = Command::new("taskset");
        bench
            .args(["--cpu-list", "0"])
            .arg(&self.0)
            .args(["--json", group]);
        let rows = printed(&mut bench, "the benchmark of the library on one core")?;
        let told = rows
            .into_iter()
            .filter(|row| ON_ONE_CORE.contains(&row.what.as_str()));
        Ok(told
            .map(|row| Row {
                what: format!("{}, on one core", row.what),
                ..row
            })
            .collect())
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
