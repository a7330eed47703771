//! `cargo xtask bench`: measures the release build, and others beside it on the same programs.

mod binary;
mod losses;
mod machine;
mod ours;
mod peers;
mod report;
mod rows;
mod targets;
mod words;

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, ensure};

use self::{binary::Binary, ours::Library, peers::Peer, report::Report, rows::Side};
use crate::{e2e::soak, workspace::root};

/// Where the whole report goes.
const DOCUMENT: &str = "docs/benchmarks.md";

/// How to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the groups whose name contains this, and nothing is written: cells, typescript, cpu, images, catalogs, start,
    /// stdio, http, runaway.
    group: Option<String>,
    /// Leaves out the others: quickjs-wasi on Node (needs node and npm) and pydantic-monty (needs python3).
    #[arg(long)]
    no_peer: bool,
    /// Rounds; of each row the one with the best median counts, which is the least disturbed.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Prints JSON and nothing else, and leaves out the load at the end.
    #[arg(long)]
    json: bool,
    /// Writes the report to this file instead of docs/benchmarks.md.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// All groups, in the order of the report.
fn groups() -> impl Iterator<Item = &'static str> {
    ours::GROUPS.iter().chain(binary::GROUPS).copied()
}

/// Measures what was asked for, and prints and writes what came of it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let report = measure(options)?;
    let whole = options.group.is_none();
    let written = options.write.clone();
    if let Some(file) = written.or_else(|| whole.then(|| root().join(DOCUMENT))) {
        fs::write(&file, report.document())
            .with_context(|| format!("{} cannot be written", file.display()))?;
    }
    if options.json {
        println!("{:#}", report.json());
        return Ok(());
    }
    println!("{}", report.tables());
    if whole {
        soak::run(&soak::Options::bounded())?;
    }
    Ok(())
}

fn measure(options: &Options) -> Result<Report> {
    let wanted = |group: &&str| options.group.as_deref().is_none_or(|word| group.contains(word));
    let wanted: Vec<_> = groups().filter(wanted).collect();
    ensure!(
        !wanted.is_empty(),
        "there is no such group; there are {}",
        groups().collect::<Vec<_>>().join(", ")
    );
    let said = |text: &str| {
        if !options.json {
            println!("{text}");
        }
    };
    let (peers, notes) = if options.no_peer {
        (Vec::new(), Vec::new())
    } else {
        peers::install()?
    };
    notes.iter().for_each(|note| said(note));
    let some_of = |groups: &[&str]| wanted.iter().any(|group| groups.contains(group));
    let library = some_of(ours::GROUPS).then(Library::build).transpose()?;
    let binary = some_of(binary::GROUPS).then(Binary::build).transpose()?;
    let mut ours = Side::new("codecell");
    let mut theirs: Vec<_> = peers.iter().map(|peer| Side::new(peer.name)).collect();
    for round in 1..=options.rounds {
        for group in &wanted {
            said(&format!("round {round} of {}: {group}", options.rounds));
            if let Some(library) = library.as_ref().filter(|_| ours::GROUPS.contains(group)) {
                ours.keep_best(library.measure(group)?);
            }
            if let Some(binary) = binary.as_ref().filter(|_| binary::GROUPS.contains(group)) {
                ours.keep_best(binary.measure(group)?);
            }
            beside(group, &peers, &mut theirs)?;
        }
    }
    Ok(Report {
        machine: machine::machine(),
        versions: machine::versions(!peers.is_empty()),
        rounds: options.rounds,
        notes,
        ours,
        peers: theirs,
    })
}

/// Measures everybody who has something comparable in a group.
fn beside(group: &str, peers: &[Peer], sides: &mut [Side]) -> Result<()> {
    let comparable = peers.iter().zip(sides).filter(|(peer, _)| peer.measures(group));
    for (peer, side) in comparable {
        side.keep_best(peer.measure(group)?);
    }
    Ok(())
}
