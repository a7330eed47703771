//! A program with its header: what it attacks, what it may use, how it ends.
//!
//! ```text
//! //! attacks = one sentence
//! //! expect.value = JSON, of a program that completes
//! //! expect.code = a failure; `timeout` needs no more
//! //! expect.error = the whole message of that failure, as a JSON string if it has several lines
//! //! expect.begins = how a message begins that is longer than one wants to read
//! //! expect.waiting = the reason of a program that waits for what never comes
//! //! expect.output, expect.warnings = JSON arrays; nothing is expected where they are missing
//! //! expect.warned = how many warnings of each kind, where they are too many to list
//! //! expect.started = how many calls reached a tool, where it matters
//! //! timeout_ms, memory_bytes, output_bytes
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use codecell::Settings;
use serde_json::{Map, Value, json};

const KEYS: &[&str] = &[
    "attacks",
    "expect.value",
    "expect.code",
    "expect.error",
    "expect.begins",
    "expect.waiting",
    "expect.output",
    "expect.warnings",
    "expect.warned",
    "expect.started",
    "timeout_ms",
    "memory_bytes",
    "output_bytes",
];

/// The limit of programs that must run into it.
const SHORT_MS: u64 = 400;

pub(crate) struct Attack {
    pub(crate) name: String,
    pub(crate) source: String,
    header: BTreeMap<String, String>,
}

impl Attack {
    /// Every program of a folder, by name.
    pub(crate) fn all(folder: &str) -> Vec<Self> {
        let at = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/hostile/programs")
            .join(folder);
        let mut files: Vec<_> = std::fs::read_dir(at)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{folder} is empty");
        files.iter().map(|file| Self::read(folder, file)).collect()
    }

    fn read(folder: &str, file: &Path) -> Self {
        let name = format!("{folder}/{}", file.file_stem().unwrap().to_string_lossy());
        let source = std::fs::read_to_string(file).unwrap();
        let lines = source.lines().map_while(|line| line.strip_prefix("//! "));
        let header: BTreeMap<String, String> = lines
            .map(|line| {
                line.split_once(" = ")
                    .unwrap_or_else(|| panic!("{name}: `{line}` has no value"))
            })
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        for key in header.keys() {
            assert!(KEYS.contains(&key.as_str()), "{name}: unknown key `{key}`");
        }
        assert!(
            header.contains_key("attacks"),
            "{name} does not say what it attacks"
        );
        Self { name, source, header }
    }

    /// The same program, suspended once before its first line. No position moves.
    pub(crate) fn parked(&self) -> String {
        let (_, rest) = self.source.split_once('\n').unwrap();
        format!("await yield_control();\n{rest}")
    }

    pub(crate) fn ends_waiting(&self) -> bool {
        self.header.contains_key("expect.waiting")
    }

    pub(crate) fn ends_by_time(&self) -> bool {
        self.header
            .get("expect.code")
            .is_some_and(|code| code == "timeout")
    }

    pub(crate) fn settings(&self) -> Settings {
        let number =
            |key: &str, default: u64| self.header.get(key).map_or(default, |text| text.parse().unwrap());
        let timeout = if self.ends_by_time() { SHORT_MS } else { 60_000 };
        Settings {
            timeout: Duration::from_millis(number("timeout_ms", timeout)),
            memory_limit_bytes: number("memory_bytes", 16 << 20) as usize,
            max_output_bytes: number("output_bytes", 64 << 10) as usize,
            ..Settings::default()
        }
    }

    /// What is wrong with how it ended, in the words of the header: nothing if all is as expected.
    pub(crate) fn judge(&self, result: &Value, started: u32) -> Vec<String> {
        let found = self.described(result, started);
        let mut wrong: Vec<String> = found
            .iter()
            .filter(|(key, value)| self.header(key).as_ref() != Some(value))
            .map(|(key, value)| format!("//! {key} = {value}"))
            .collect();
        let expected = self.header.keys().filter(|key| key.starts_with("expect."));
        let missing = expected.filter(|key| !found.contains_key(key.as_str()));
        wrong.extend(missing.map(|key| format!("no `{key}`")));
        wrong
    }

    fn header(&self, key: &str) -> Option<Value> {
        let text = self.header.get(key)?;
        let is_word = ["expect.code", "expect.begins", "expect.waiting"].contains(&key);
        let is_line = key == "expect.error" && !text.starts_with('"');
        Some(if is_word || is_line {
            text.as_str().into()
        } else {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{}: {key}: {error}", self.name))
        })
    }

    /// The header that would have been right.
    fn described(&self, result: &Value, started: u32) -> Map<String, Value> {
        let mut found = Map::new();
        let mut tell = |key: &str, value: Value| {
            found.insert(format!("expect.{key}"), value);
        };
        let code = result["code"].as_str().unwrap_or_default();
        match result["status"].as_str().unwrap() {
            "completed" => tell("value", result["value"].clone()),
            "waiting" => tell("waiting", result["reason"].clone()),
            _ => {
                tell("code", code.into());
                let late = format!(
                    "code mode timeout exceeded: the program was still running after {} ms. Do less in one cell, or \
                     let it wait for tools instead of looping.",
                    self.settings().timeout.as_millis()
                );
                let begins = self.header.get("expect.begins");
                let error = result["error"].as_str().unwrap();
                match begins.filter(|begins| error.starts_with(begins.as_str())) {
                    Some(begins) => tell("begins", begins.as_str().into()),
                    None if code == "timeout" && error == late => {}
                    None => tell("error", error.into()),
                }
            }
        }
        // What is kept of too much output is bounded, and says so.
        if code == "output_limit_exceeded" && !self.header.contains_key("expect.output") {
            let kept = result["output"].to_string().len() + result["error"].to_string().len();
            assert!(
                kept <= self.settings().max_output_bytes,
                "{}: {kept} bytes",
                self.name
            );
        } else if result["output"] != json!([]) {
            tell(
                "output",
                result["output"].as_array().unwrap().iter().map(short).collect(),
            );
        }
        if let Some(warnings) = result["warnings"].as_array() {
            if self.header.contains_key("expect.warned") {
                tell("warned", by_kind(warnings));
            } else {
                tell("warnings", warnings.clone().into());
            }
        }
        if self.header.contains_key("expect.started") {
            tell("started", started.into());
        }
        found
    }
}

/// One entry of output: text as it is, a value as `{ "json": … }`.
fn short(entry: &Value) -> Value {
    match entry.get("text") {
        Some(text) => text.clone(),
        None => json!({ "json": entry["value"] }),
    }
}

fn by_kind(warnings: &[Value]) -> Value {
    let mut counts = BTreeMap::<&str, u32>::new();
    for warning in warnings {
        *counts.entry(warning["kind"].as_str().unwrap()).or_default() += 1;
    }
    json!(counts)
}
