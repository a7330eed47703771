//! Measures how many of the tools that a task needs the search finds, and how long it takes.
//!
//! `cargo run --release -p codecell-catalog --example search_eval -- FILE` reads a JSON file with `tools` (`server`,
//! `name`, `description`, `inputSchema`) and `tasks` (`id`, `question`, `steps`, and `tools`: the names a solver
//! needs). With `--check` it fails when the recall of steps is below the floor, and measures no time.

use std::{
    collections::HashSet,
    error::Error,
    hint::black_box,
    io::{Write as _, stdout},
    time::{Duration, Instant},
};

use codecell_catalog::{Catalog, Owner, Reach, ToolSpec};
use serde::Deserialize;
use serde_json::Value;

/// How many hits count, from one to what fills a page.
const LIMITS: [usize; 4] = [1, 3, 8, 20];

/// The hits a cell gets unless it asks for more, and the share of tools, in percent, that must be among them.
const DEFAULT_LIMIT: usize = 8;
const FLOOR: f64 = 85.5;

/// Sizes that searches are timed at; the last is the largest collection anyone reported.
const SIZES: [usize; 2] = [1_000, 16_500];

/// How often each search is timed.
const PASSES: usize = 5;

/// Questions of which no tool has a word: they must find nothing, and say which words that were.
const UNANSWERABLE: [(&str, &[&str]); 6] = [
    ("zyzzyva qwfpgj", &["zyzzyva", "qwfpgj"]),
    ("frobnicate the wugmuffin", &["frobnicate", "wugmuffin"]),
    ("sharpen my lawnmower", &["sharpen", "lawnmower"]),
    ("Kühlschrank abtauen", &["kühlschrank", "abtauen"]),
    ("холодильник", &["холодильник"]),
    ("冷蔵庫", &["冷蔵", "蔵庫"]),
];

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
    id: String,
    question: String,
    steps: Vec<String>,
    tools: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = arguments.len();
    arguments.retain(|argument| argument != "--check");
    let check = arguments.len() < given;
    let [path] = arguments.as_slice() else {
        return Err("usage: search_eval FILE [--check]".into());
    };
    let mut benchmark: Benchmark = serde_json::from_slice(&std::fs::read(path)?)?;
    let specs: Vec<ToolSpec> = std::mem::take(&mut benchmark.tools)
        .into_iter()
        .map(spec)
        .collect();
    let catalog = Catalog::build(specs.clone());
    let reached = report(&catalog, &benchmark.tasks)?;
    let answered = unanswerable(&catalog)?;
    if check {
        if reached < FLOOR {
            return Err(
                format!("recall@{DEFAULT_LIMIT} of steps is {reached:.1} %, the floor is {FLOOR} %").into(),
            );
        }
        if answered > 0 {
            return Err(format!("{answered} questions without an answer were answered").into());
        }
        return Ok(());
    }
    for size in [catalog.len()].into_iter().chain(SIZES) {
        time(&specs, &benchmark.tasks, size)?;
    }
    Ok(())
}

fn spec(tool: Described) -> ToolSpec {
    let description = tool.description.unwrap_or_default();
    ToolSpec::new(Owner::Mcp(tool.server), tool.name, description, tool.input_schema)
}

/// Prints the recall of all and of either half of the tasks; returns that of steps at the default limit.
///
/// Words and weights were chosen on one half only. A task that needs no tools has no recall and is left out.
fn report(catalog: &Catalog, tasks: &[Task]) -> Result<f64, Box<dyn Error>> {
    let needing: Vec<&Task> = tasks.iter().filter(|task| !task.tools.is_empty()).collect();
    let (tuned, held_out): (Vec<&Task>, Vec<&Task>) = needing.iter().partition(|task| !is_held_out(&task.id));
    let mut out = stdout();
    writeln!(
        out,
        "{} tools, {} tasks, recall in percent",
        catalog.len(),
        needing.len()
    )?;
    writeln!(
        out,
        "{:28} {:>6} {:>6} {:>6} {:>6}",
        "hits that count", LIMITS[0], LIMITS[1], LIMITS[2], LIMITS[3]
    )?;
    for (name, tasks) in [("tuned on", &tuned), ("held out", &held_out), ("all", &needing)] {
        let label = format!("steps, {name} ({})", tasks.len());
        row(&label, |limit| {
            recall(catalog, tasks, limit, |task| task.steps.iter().collect())
        })?;
    }
    row("whole questions, all", |limit| {
        recall(catalog, &needing, limit, |task| vec![&task.question])
    })?;
    Ok(recall(catalog, &needing, DEFAULT_LIMIT, |task| {
        task.steps.iter().collect()
    }))
}

fn row(label: &str, recall: impl Fn(usize) -> f64) -> Result<(), Box<dyn Error>> {
    let [a, b, c, d] = LIMITS.map(recall);
    writeln!(stdout(), "{label:28} {a:6.1} {b:6.1} {c:6.1} {d:6.1}")?;
    Ok(())
}

/// The mean over tasks of the share of needed tools that a task's queries find together, in percent.
fn recall<'a>(
    catalog: &Catalog,
    tasks: &[&'a Task],
    limit: usize,
    queries: impl Fn(&'a Task) -> Vec<&'a String>,
) -> f64 {
    let share = |task: &&'a Task| {
        let found: HashSet<&str> = queries(task)
            .into_iter()
            .flat_map(|query| catalog.search(query, limit, Reach::All))
            .map(|tool| tool.spec().name.as_str())
            .collect();
        let hits = task.tools.iter().filter(|name| found.contains(name.as_str()));
        hits.count() as f64 / task.tools.len() as f64
    };
    100.0 * tasks.iter().map(share).sum::<f64>() / tasks.len().max(1) as f64
}

/// Splits tasks by a hash of their id (FNV-1a), so that nobody chose which are held out.
fn is_held_out(id: &str) -> bool {
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 32) & 1 == 1
}

/// How many questions were answered although no tool has a word of them.
fn unanswerable(catalog: &Catalog) -> Result<usize, Box<dyn Error>> {
    let mut answered = 0;
    for (question, words) in UNANSWERABLE {
        let report = catalog.search_report(question, DEFAULT_LIMIT, Reach::All);
        if !report.tools.is_empty() || report.unmatched != words {
            answered += 1;
            let found: Vec<String> = report.tools.iter().map(|tool| tool.id().to_string()).collect();
            writeln!(
                stdout(),
                "{question}: found {found:?}, dead words {:?}",
                report.unmatched
            )?;
        }
    }
    let silent = UNANSWERABLE.len() - answered;
    writeln!(
        stdout(),
        "{silent} of {} questions without an answer find nothing and name their words",
        UNANSWERABLE.len()
    )?;
    Ok(answered)
}

/// Times build and search with the tools repeated under other servers' names until there are `size`.
fn time(specs: &[ToolSpec], tasks: &[Task], size: usize) -> Result<(), Box<dyn Error>> {
    let many = specs.iter().cycle().take(size).enumerate().map(|(number, spec)| {
        let mut spec = spec.clone();
        let server = spec.owner.name().unwrap_or_default();
        spec.owner = Owner::Mcp(format!("{server}{}", number / specs.len().max(1)));
        spec
    });
    let many: Vec<ToolSpec> = many.collect();
    let started = Instant::now();
    let catalog = Catalog::build(many);
    let built = started.elapsed();
    let queries: Vec<&String> = tasks.iter().flat_map(|task| &task.steps).collect();
    // The quickest of several passes: the first one touches every page for the first time, and the machine may have
    // other things to do.
    let mut times = vec![Duration::MAX; queries.len()];
    for _ in 0..PASSES {
        for (time, query) in times.iter_mut().zip(&queries) {
            let began = Instant::now();
            black_box(catalog.search(query, DEFAULT_LIMIT, Reach::All));
            *time = began.elapsed().min(*time);
        }
    }
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let slowest = times.last().copied().unwrap_or_default();
    writeln!(
        stdout(),
        "{:6} tools: built in {built:.0?}, a search takes {median:.0?} (median), {slowest:.0?} (slowest)",
        catalog.len(),
    )?;
    Ok(())
}
