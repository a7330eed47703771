//! `quickjs-wasi` on Node: the engine alone, and the way a host drives it that must not block.

use std::{path::Path, process::Command};

use anyhow::Result;
use serde_json::Value;

use super::{Peer, QUICKJS, WORKERS, once, write};
use crate::workspace::root;

const MANIFEST: &str = include_str!("quickjs/package.json");

const FILES: &[(&str, &str)] = &[
    ("package.json", MANIFEST),
    ("peer.mjs", include_str!("quickjs/peer.mjs")),
    ("rows.mjs", include_str!("quickjs/rows.mjs")),
    ("vm.mjs", include_str!("quickjs/vm.mjs")),
    ("alone.mjs", include_str!("quickjs/alone.mjs")),
    ("worker.mjs", include_str!("quickjs/worker.mjs")),
    ("workers.mjs", include_str!("quickjs/workers.mjs")),
];

/// The pinned version.
pub(super) fn version() -> String {
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap_or_default();
    let version = manifest["dependencies"]["quickjs-wasi"].as_str();
    version.unwrap_or_default().to_owned()
}

pub(super) fn install(folder: &Path) -> Result<Vec<Peer>> {
    write(folder, FILES)?;
    let mut npm = Command::new("npm");
    npm.current_dir(folder)
        .args(["install", "--silent", "--no-audit", "--no-fund"]);
    once(folder, MANIFEST, &mut [npm])?;
    // A package that is there is of no use without what runs it.
    let mut node = Command::new("node");
    node.arg("--version");
    crate::process::run(&mut node, "", super::PATIENCE)?;
    let peer = |name, way: &str, groups| Peer {
        name,
        groups,
        program: "node".into(),
        arguments: (
            vec!["--expose-gc".into(), folder.join("peer.mjs").into(), way.into()],
            vec![root().join("crates/codecell/examples/bench/programs").into()],
        ),
    };
    Ok(vec![
        peer(QUICKJS, "alone", &["cells", "cpu", "images"]),
        peer(WORKERS, "workers", &["cells", "images"]),
    ])
}
