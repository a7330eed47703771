//! Where the workspace is, and what cargo says about it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// The root folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// What `cargo metadata` says about the packages of one manifest, dependencies not resolved.
pub(crate) fn metadata(manifest: &Path) -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"])
        .arg(manifest)
        .output()
        .context("starting cargo")?;
    if !output.status.success() {
        bail!(
            "`cargo metadata` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` did not print JSON")
}

/// The folder that cargo builds into.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = metadata(&root().join("Cargo.toml"))?;
    let folder = metadata["target_directory"]
        .as_str()
        .context("`cargo metadata` names no target folder")?;
    Ok(PathBuf::from(folder))
}

/// Builds an example as `cargo test --workspace` builds it, and says where it is: with the features of its own package
/// alone, everything below would be compiled once more.
pub(crate) fn example(name: &str) -> Result<PathBuf> {
    let status = cargo()
        .args(["build", "--quiet", "--workspace", "--example", name])
        .status()
        .context("starting cargo")?;
    ensure!(status.success(), "the example `{name}` does not build ({status})");
    Ok(target_dir()?.join("debug/examples").join(name))
}

/// Cargo, started in the root folder.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}
