//! Every file of `tests/programs` is a test. Its header says what is expected:
//!
//! `expect.value` (JSON text), `expect.error` (`Name: message @line:column`), `expect.fault` (a word), `expect.stuck`;
//! beside that `expect.calls`, `expect.output`, `expect.unhandled` (JSON arrays), `timeout_ms`, `memory_bytes`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use codecell_bridge::{Fault, Thrown};
use codecell_guest_runtime::VmLimits;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::program::{Ended, Pauses, play};
use crate::world::World;

fn header(source: &str) -> BTreeMap<String, String> {
    let lines = source.lines().map_while(|line| line.strip_prefix("//! "));
    let entries = lines.map(|line| {
        line.split_once(" = ")
            .unwrap_or_else(|| panic!("`{line}` has no value"))
    });
    entries
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn shown(error: &Thrown) -> String {
    let place = error.frames.first().map_or(String::new(), |frame| {
        format!(" @{}:{}", frame.line, frame.column)
    });
    format!("{}: {}{place}", error.name, error.message)
}

/// The header a program's end should have had, in the words of the headers.
fn described(ended: &Ended) -> (&'static str, String) {
    match ended {
        Ended::Value(text) => ("expect.value", text.clone()),
        Ended::Error(error) => ("expect.error", shown(error)),
        Ended::Stuck => ("expect.stuck", "true".into()),
        Ended::Fault(fault) => {
            let word = match fault {
                Fault::Deadline => "deadline",
                Fault::Cancelled => "cancelled",
                Fault::Memory { .. } => "memory",
                Fault::Output => "output",
                other => panic!("the engine failed: {other}"),
            };
            ("expect.fault", word.into())
        }
    }
}

async fn check(name: &str, source: &str, pauses: Pauses) -> Result<(), String> {
    let header = header(source);
    let number = |key: &str, default: u64| header.get(key).map_or(default, |text| text.parse().unwrap());
    let budget = Duration::from_millis(number("timeout_ms", 60_000));
    let limits = VmLimits {
        memory_bytes: number("memory_bytes", 64 << 20) as usize,
    };
    let world = World::default();
    let outcome = play(source, &world, limits, pauses, budget).await;

    let mut wrong = Vec::new();
    let (key, found) = described(&outcome.ended);
    if header.get(key) != Some(&found) {
        wrong.push(format!("{key} = {found}"));
    }
    let lists = [
        ("expect.calls", serde_json::to_value(world.calls()).unwrap()),
        ("expect.output", Value::from(world.output())),
        (
            "expect.unhandled",
            outcome.unhandled.iter().map(shown).collect::<Vec<_>>().into(),
        ),
    ];
    for (key, found) in lists {
        let expected = header
            .get(key)
            .map(|text| serde_json::from_str::<Value>(text).unwrap());
        let is_told = key != "expect.calls" || expected.is_some();
        if is_told && expected.unwrap_or_else(|| Value::Array(Vec::new())) != found {
            wrong.push(format!("{key} = {found}"));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{name} ({pauses:?}): expected {header:#?}\nfound {}",
        wrong.join("\n      ")
    ))
}

#[tokio::test]
async fn every_program_ends_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let mut checks = JoinSet::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&file).unwrap();
        checks.spawn(async move {
            let alive = check(&name, &source, Pauses::Alive).await;
            [alive, check(&name, &source, Pauses::Frozen).await]
        });
    }
    let mut wrong: Vec<String> = checks
        .join_all()
        .await
        .into_iter()
        .flatten()
        .filter_map(Result::err)
        .collect();
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
