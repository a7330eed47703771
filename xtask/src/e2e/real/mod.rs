//! Servers, clients and a compiler that nobody here wrote.

mod clients;
mod declarations;
mod hosts;
mod sdks;
mod servers;
pub(crate) mod tools;

use std::path::PathBuf;

use anyhow::Result;

use super::Steps;

/// Installs what is pinned and plays with it; `recorded` are folders of recorded servers.
pub(super) fn play(steps: &mut Steps, recorded: &[PathBuf]) -> Result<()> {
    let tools = tools::Tools::install()?;
    servers::play(steps, &tools);
    clients::play(steps, &tools);
    sdks::play(steps, &tools);
    declarations::play(steps, &tools, recorded);
    Ok(())
}

/// Installs agent hosts and drives them.
pub(super) fn play_hosts(steps: &mut Steps) -> Result<()> {
    hosts::play(steps)
}
