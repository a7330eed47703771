//! Programs that have to be checked, and translated, before they run.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use codecell_ts_transform::{Language, prepare};
use serde_json::json;

use crate::table::Table;
use crate::world::{Failure, World, context, tools};

const GROUP: &str = "typescript";
const RUNS: usize = 400;
const LINES: usize = 300;

const SMALL: &str = "interface A { n: number }\nconst a: A = { n: 1 };\nreturn a.n + 1";

pub(crate) async fn measure(world: &World, table: &mut Table) -> Result<(), Failure> {
    let long = long()?;
    for (what, source, language) in [
        (
            "check a small JavaScript program",
            "return 1+1",
            Language::JavaScript,
        ),
        ("transform a small program", SMALL, Language::TypeScript),
        ("transform a program of 300 lines", &long, Language::TypeScript),
    ] {
        table.times(GROUP, what, transforms(source, language)?);
    }
    let context = context(tools(10));
    for (what, source) in [("a small cell", SMALL), ("a cell of 300 lines", &long)] {
        let cell = json!({ "code": source, "language": "typescript" });
        table.times(GROUP, what, world.time(&cell, &context, RUNS).await?);
    }
    Ok(())
}

/// The times of the transform alone, after some that do not count.
fn transforms(source: &str, language: Language) -> Result<Vec<Duration>, Failure> {
    let warm_up = RUNS / 8 + 1;
    let mut times = Vec::with_capacity(RUNS);
    for run in 0..warm_up + RUNS {
        let start = Instant::now();
        std::hint::black_box(prepare(source, language)?);
        let took = start.elapsed();
        if run >= warm_up {
            times.push(took);
        }
    }
    Ok(times)
}

/// A program of many typed functions, of which none is called.
fn long() -> Result<String, Failure> {
    let mut source = String::from("interface Row { id: number; name?: string }\n");
    for n in 0..LINES / 3 {
        writeln!(
            source,
            "function at{n}<T extends Row>(rows: readonly T[]): T | undefined {{"
        )?;
        writeln!(
            source,
            "  return rows.find((row): boolean => row.id === {n} && row.name !== `row ${{row.id}}`);"
        )?;
        writeln!(source, "}}")?;
    }
    source.push_str("return 1");
    Ok(source)
}
