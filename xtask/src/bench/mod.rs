//! Measures the release build, and beside it another engine on the same programs.
//!
//! ours: the example `bench` of `codecell`; theirs: `quickjs-wasi` on Node, installed on demand at a pinned version.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::e2e::soak;
use crate::workspace::{cargo, root, target_dir};

/// How to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the groups whose name contains this: cells, cpu, images, catalogs.
    group: Option<String>,
    /// Measures `quickjs-wasi` on Node as well; needs node and npm.
    #[arg(long)]
    peer: bool,
    /// Rounds; of each row the one with the smallest median counts, which is the least disturbed.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Writes the table to this file as well.
    #[arg(long)]
    write: Option<PathBuf>,
}

/// What the two sides print for each row.
#[derive(Clone)]
struct Row {
    group: String,
    what: String,
    unit: String,
    p50: f64,
    p99: Option<f64>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let peer = options.peer.then(install_peer).transpose()?;
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    // In turn, so that a machine that slows down does so for both.
    for _ in 0..options.rounds {
        keep_best(&mut ours, measure_ours(options.group.as_deref())?);
        if let Some(folder) = &peer {
            keep_best(&mut theirs, measure_peer(folder)?);
        }
    }
    let theirs: HashMap<_, _> = theirs
        .into_iter()
        .map(|row| ((row.group.clone(), row.what.clone()), row))
        .collect();
    let table = markdown(&ours, &theirs);
    if let Some(file) = &options.write {
        fs::write(file, &table).with_context(|| format!("{} cannot be written", file.display()))?;
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&json(&ours, &theirs))?);
    } else {
        println!("{table}");
    }
    if options.group.is_none() && !options.json {
        return soak::run(&soak::Options::bounded());
    }
    Ok(())
}

fn measure_ours(group: Option<&str>) -> Result<Vec<Row>> {
    let mut bench = cargo();
    bench.args([
        "run",
        "--release",
        "--quiet",
        "--package",
        "codecell",
        "--example",
        "bench",
        "--",
    ]);
    bench.arg("--json").args(group);
    rows(&mut bench, "the benchmark")
}

fn measure_peer(folder: &Path) -> Result<Vec<Row>> {
    let programs = root().join("crates/codecell/examples/bench/programs");
    let mut node = Command::new("node");
    node.arg(folder.join("peer.mjs")).arg(programs);
    rows(&mut node, "the peer")
}

/// Installs the peer at the version of its `package.json`.
fn install_peer() -> Result<PathBuf> {
    let folder = target_dir()?.join("bench-peer");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("package.json"), include_str!("peer/package.json"))?;
    fs::write(folder.join("peer.mjs"), include_str!("peer/peer.mjs"))?;
    let mut npm = Command::new("npm");
    npm.current_dir(&folder)
        .args(["install", "--silent", "--no-audit", "--no-fund"]);
    let status = npm.status().context("`npm` does not start")?;
    ensure!(status.success(), "installing the peer failed ({status})");
    Ok(folder)
}

fn rows(command: &mut Command, what: &str) -> Result<Vec<Row>> {
    let output = command
        .output()
        .with_context(|| format!("{what} does not start"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{what} failed ({}): {complaint}",
        output.status
    );
    let rows: Vec<Value> =
        serde_json::from_slice(&output.stdout).with_context(|| format!("{what} prints no JSON"))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(rows
        .iter()
        .map(|row| Row {
            group: text(&row["group"]),
            what: text(&row["what"]),
            unit: text(&row["unit"]),
            p50: row["p50"].as_f64().unwrap_or_default(),
            p99: row["p99"].as_f64(),
        })
        .collect())
}

/// Replaces rows whose new median is smaller. Rates are rows without a tail, and there more is better.
fn keep_best(best: &mut Vec<Row>, new: Vec<Row>) {
    if best.is_empty() {
        *best = new;
        return;
    }
    for (best, new) in best.iter_mut().zip(new) {
        let better = if best.unit.ends_with("/s") {
            new.p50 > best.p50
        } else {
            new.p50 < best.p50
        };
        if better {
            *best = new;
        }
    }
}

type Peers = HashMap<(String, String), Row>;

fn peer_of<'p>(row: &Row, theirs: &'p Peers) -> Option<&'p Row> {
    theirs.get(&(row.group.clone(), row.what.clone()))
}

fn markdown(ours: &[Row], theirs: &Peers) -> String {
    let mut out = String::from("| group | what | p50 | p99 | unit | peer p50 | ours / peer |\n");
    out.push_str("|---|---|---:|---:|---|---:|---:|\n");
    for row in ours {
        let p99 = row.p99.map_or(String::new(), shown);
        let (peer, ratio) = match peer_of(row, theirs) {
            Some(peer) => (shown(peer.p50), format!("{:.2}", row.p50 / peer.p50)),
            None => Default::default(),
        };
        let p50 = shown(row.p50);
        let _ = writeln!(
            out,
            "| {} | {} | {p50} | {p99} | {} | {peer} | {ratio} |",
            row.group, row.what, row.unit
        );
    }
    out
}

fn json(ours: &[Row], theirs: &Peers) -> Value {
    ours.iter()
        .map(|row| {
            serde_json::json!({
                "group": row.group,
                "what": row.what,
                "unit": row.unit,
                "p50": row.p50,
                "p99": row.p99,
                "peerP50": peer_of(row, theirs).map(|peer| peer.p50),
            })
        })
        .collect()
}

/// Three digits are more than the machine's noise leaves.
fn shown(number: f64) -> String {
    let digits = if number < 10.0 {
        2
    } else {
        usize::from(number < 100.0)
    };
    format!("{number:.digits$}")
}
