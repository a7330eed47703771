//! The release binary, measured from outside: what an agent waits for.
//!
//! The measuring program runs on the same machine, so its own share of the work is in the numbers.

mod home;
mod runaway;
mod start;
mod stdio;
mod web;
mod web_client;

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

use super::{ours::release, rows::Row};
use crate::{mcp::LEGACY, workspace::target_dir};

pub(super) const GROUPS: &[&str] = &["start", "stdio", "http", "runaway"];

/// The binary that is measured.
pub(super) struct Binary(PathBuf);

impl Binary {
    pub(super) fn build() -> Result<Binary> {
        release(&["--package", "codecell-gateway", "--bins"])?;
        Ok(Binary(target_dir()?.join("release/codecell")))
    }

    pub(super) fn measure(&self, group: &str) -> Result<Vec<Row>> {
        match group {
            "start" => start::measure(&self.0),
            "stdio" => stdio::measure(&self.0),
            "http" => web::measure(&self.0),
            "runaway" => runaway::measure(&self.0),
            unknown => anyhow::bail!("there is no group `{unknown}`"),
        }
    }
}

/// The revision that is spoken.
fn revision() -> &'static str {
    LEGACY.last().copied().unwrap_or_default()
}

/// The parameters of a handshake.
fn handshake() -> Value {
    let client = json!({ "name": "codecell-bench", "version": "1" });
    json!({ "protocolVersion": revision(), "capabilities": {}, "clientInfo": client })
}

/// The parameters of a call that runs a program.
fn exec(code: &str) -> Value {
    json!({ "name": "exec", "arguments": { "code": code } })
}
