//! Measures how many of the tools a task needs the search finds.
//!
//! `cargo run --release -p codecell-catalog --example recall -- FILE` reads a JSON file with `tools` (`server`, `name`,
//! `description`, `inputSchema`) and `tasks` (`steps`, and `tools`: the names a solver needs). One query per step; a
//! task's score is the share of its tools in the union of the top 8 of its steps. Then times 16,500 tools.

use std::{
    collections::HashSet,
    error::Error,
    io::Write as _,
    iter,
    time::{Duration, Instant},
};

use codecell_catalog::{Catalog, Owner, Reach, ToolSpec};
use serde::Deserialize;
use serde_json::Value;

const LIMIT: usize = 8;

/// As many tools as the largest collection anyone reported.
const MANY: usize = 16_500;

#[derive(Deserialize)]
struct Benchmark {
    tools: Vec<Described>,
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    server: String,
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Value,
}

#[derive(Deserialize)]
struct Task {
    question: String,
    steps: Vec<String>,
    tools: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: recall FILE")?;
    let benchmark: Benchmark = serde_json::from_slice(&std::fs::read(path)?)?;
    let specs = benchmark.tools.into_iter().map(|tool| {
        ToolSpec::new(
            Owner::Mcp(tool.server),
            tool.name,
            tool.description.unwrap_or_default(),
            tool.input_schema,
        )
    });
    let specs: Vec<ToolSpec> = specs.collect();
    let catalog = Catalog::build(specs.clone());

    let (mut by_step, mut by_question, mut pooled, mut wanted) = (0.0, 0.0, 0, 0);
    for task in &benchmark.tasks {
        let steps = recall(&catalog, task.steps.iter(), &task.tools);
        by_step += f64::from(steps) / task.tools.len().max(1) as f64;
        pooled += steps;
        wanted += task.tools.len();
        let question = recall(&catalog, iter::once(&task.question), &task.tools);
        by_question += f64::from(question) / task.tools.len().max(1) as f64;
    }
    let tasks = benchmark.tasks.len().max(1) as f64;
    writeln!(
        std::io::stdout(),
        "{} tools, {} tasks: recall@{LIMIT} per step {:.1} % (tasks equal), {:.1} % (tools equal); by the question alone {:.1} %",
        catalog.len(),
        benchmark.tasks.len(),
        100.0 * by_step / tasks,
        100.0 * f64::from(pooled) / f64::from(wanted as u32),
        100.0 * by_question / tasks,
    )?;
    time(&specs, &benchmark.tasks)
}

/// How many of `wanted` the queries find together.
fn recall<'a>(catalog: &Catalog, queries: impl Iterator<Item = &'a String>, wanted: &[String]) -> u32 {
    let found: HashSet<&str> = queries
        .flat_map(|query| catalog.search(query, LIMIT, Reach::All))
        .map(|tool| tool.spec().name.as_str())
        .collect();
    wanted.iter().filter(|name| found.contains(name.as_str())).count() as u32
}

/// Times build and search with the tools repeated under other servers' names until there are [`MANY`].
fn time(specs: &[ToolSpec], tasks: &[Task]) -> Result<(), Box<dyn Error>> {
    let many = specs.iter().cycle().take(MANY).enumerate().map(|(number, spec)| {
        let mut spec = spec.clone();
        spec.owner = Owner::Mcp(format!(
            "{}{}",
            spec.owner.name().unwrap_or_default(),
            number / specs.len().max(1)
        ));
        spec
    });
    let many: Vec<ToolSpec> = many.collect();
    let started = Instant::now();
    let catalog = Catalog::build(many);
    let built = started.elapsed();
    let queries: Vec<&String> = tasks.iter().flat_map(|task| &task.steps).collect();
    let mut slowest = Duration::ZERO;
    let started = Instant::now();
    for query in &queries {
        let began = Instant::now();
        std::hint::black_box(catalog.search(query, LIMIT, Reach::All));
        slowest = slowest.max(began.elapsed());
    }
    let mean = started.elapsed() / u32::try_from(queries.len().max(1))?;
    writeln!(
        std::io::stdout(),
        "{} tools: built in {built:.0?}, {mean:.0?} per search, slowest {slowest:.0?}",
        catalog.len()
    )?;
    Ok(())
}
