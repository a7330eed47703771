//! Which tests are run, how, and how each of them must end.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::harness::Harness;
use super::suite;

const SHARED: &str = "shared memory, which the guest takes away";
const MODULES: &str = "cells are no modules";
const SCRIPTS: &str = "what only holds for scripts: a cell has global code by `eval` alone";
const LACKING: &str = "proposals that the engine does not have";
const HOST: &str = "what only other hosts have: several realms, a collector to call, a browser's objects";
const UNICODE: &str = "tables of another version of Unicode";

/// Parts of a path that leave a test out, and why.
const PATHS: &[(&str, &str)] = &[
    ("built-ins/Atomics/", SHARED),
    ("built-ins/SharedArrayBuffer/", SHARED),
    ("built-ins/Temporal/", LACKING),
    ("built-ins/ShadowRealm/", LACKING),
    ("built-ins/FinalizationRegistry/prototype/cleanupSome/", LACKING),
    ("built-ins/RegExp/property-escapes/generated/", UNICODE),
    ("built-ins/RegExp/unicodeSets/generated/", UNICODE),
    ("language/export/", MODULES),
    ("language/import/", MODULES),
    ("language/module-code/", MODULES),
    ("language/expressions/dynamic-import/", MODULES),
    ("language/expressions/import.meta/", MODULES),
    ("language/global-code/", SCRIPTS),
];

/// Features that leave a test out, and why.
const FEATURES: &[(&str, &str)] = &[
    ("Atomics", SHARED),
    ("SharedArrayBuffer", SHARED),
    ("Temporal", LACKING),
    ("ShadowRealm", LACKING),
    ("decorators", LACKING),
    ("legacy-regexp", LACKING),
    ("regexp-modifiers", LACKING),
    ("tail-call-optimization", LACKING),
    ("FinalizationRegistry.prototype.cleanupSome", LACKING),
    ("dynamic-import", MODULES),
    ("import.meta", MODULES),
    ("cross-realm", HOST),
    ("host-gc-required", HOST),
    ("IsHTMLDDA", HOST),
];

/// One test in one mode.
pub(super) struct Run {
    /// The scripts, in order; the last is the test.
    pub(super) scripts: Vec<PathBuf>,
    pub(super) strict: bool,
    pub(super) is_async: bool,
    /// The error it must end with.
    negative: Option<String>,
}

pub(super) struct Plan {
    /// By name: `PATH MODE`.
    pub(super) runs: BTreeMap<String, Run>,
    /// How many files are left out, by reason.
    pub(super) skipped: BTreeMap<&'static str, usize>,
}

impl Plan {
    /// Every run of a test whose path contains `filter`.
    pub(super) fn read(suite: &Path, filter: &str, harness: &mut Harness) -> Result<Self> {
        let mut plan = Self {
            runs: BTreeMap::new(),
            skipped: BTreeMap::new(),
        };
        for file in suite::files(suite)? {
            let is_test =
                !file.ends_with("shell.js") && !file.ends_with("browser.js") && !file.contains("_FIXTURE");
            if is_test && file.contains(filter) {
                plan.add(suite, &file, harness).with_context(|| file.clone())?;
            }
        }
        Ok(plan)
    }

    fn add(&mut self, suite: &Path, file: &str, harness: &mut Harness) -> Result<()> {
        let path = suite.join(file);
        let text = fs::read_to_string(&path)?;
        let meta = Meta::of(&text)?;
        if let Some(reason) = left_out(file, &meta) {
            *self.skipped.entry(reason).or_default() += 1;
            return Ok(());
        }
        let has = |flag: &str| meta.flags.iter().any(|known| known == flag);
        let before = if has("raw") {
            harness.host()?
        } else {
            harness.script(&meta.includes)?
        };
        let scripts = vec![before, path];
        for (mode, strict) in [("sloppy", false), ("strict", true)] {
            let other = if strict {
                has("noStrict") || has("raw")
            } else {
                has("onlyStrict")
            };
            if !other {
                let run = Run {
                    scripts: scripts.clone(),
                    strict,
                    is_async: has("async"),
                    negative: meta.negative.clone(),
                };
                self.runs.insert(format!("{file} {mode}"), run);
            }
        }
        Ok(())
    }
}

fn left_out(file: &str, meta: &Meta) -> Option<&'static str> {
    let has = |list: &[String], name: &str| list.iter().any(|known| known == name);
    let path = PATHS.iter().find(|(part, _)| file.contains(part));
    let feature = FEATURES.iter().find(|(feature, _)| has(&meta.features, feature));
    if let Some((_, reason)) = path.or(feature) {
        return Some(reason);
    }
    let needs_agents = has(&meta.flags, "CanBlockIsTrue") || has(&meta.flags, "CanBlockIsFalse");
    if has(&meta.flags, "module") {
        return Some(MODULES);
    }
    needs_agents.then_some(SHARED)
}

/// What a test says of itself, in the comment between `/*---` and `---*/`.
#[derive(Debug, Default, PartialEq)]
struct Meta {
    flags: Vec<String>,
    includes: Vec<String>,
    features: Vec<String>,
    negative: Option<String>,
}

impl Meta {
    fn of(text: &str) -> Result<Self> {
        let (_, from) = text
            .split_once("/*---")
            .context("the test says nothing of itself")?;
        let (lines, _) = from
            .split_once("---*/")
            .context("what the test says of itself does not end")?;
        // Some tests are indented as a whole, and a few end their lines with other characters than this one.
        let lines = || lines.split(['\n', '\r']).filter(|line| !line.trim().is_empty());
        let depth = |line: &str| line.len() - line.trim_start().len();
        let margin = lines().map(depth).min().unwrap_or(0);
        let mut meta = Self::default();
        let mut key = "";
        for line in lines() {
            let text = line.trim();
            if let Some(item) = text.strip_prefix("- ") {
                meta.list(key)
                    .into_iter()
                    .for_each(|list| list.extend(words(item)));
            } else if depth(line) > margin {
                match text.strip_prefix("type:") {
                    Some(name) if key == "negative" => meta.negative = Some(name.trim().to_owned()),
                    // A list that goes on over several lines.
                    _ => meta
                        .list(key)
                        .into_iter()
                        .for_each(|list| list.extend(words(text))),
                }
            } else if let Some((name, value)) = text.split_once(':') {
                key = name;
                meta.list(key)
                    .into_iter()
                    .for_each(|list| list.extend(words(value)));
            }
        }
        Ok(meta)
    }

    fn list(&mut self, key: &str) -> Option<&mut Vec<String>> {
        match key {
            "flags" => Some(&mut self.flags),
            "includes" => Some(&mut self.includes),
            "features" => Some(&mut self.features),
            _ => None,
        }
    }
}

/// The words of a list such as `[a, b]`.
fn words(list: &str) -> impl Iterator<Item = String> {
    let words = list.split([',', '[', ']', ' ', '\t']);
    words.filter(|word| !word.is_empty()).map(str::to_owned)
}

/// The runs that did not end as they must, each with how it ended.
pub(super) fn failures(
    runs: &BTreeMap<String, Run>,
    outcomes: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>> {
    let mut failures = BTreeMap::new();
    for (name, run) in runs {
        let told = outcomes
            .get(name)
            .with_context(|| format!("`{name}` was not run"))?;
        let is_right = match &run.negative {
            None => told.is_empty(),
            Some(error) => told.split(':').next() == Some(error),
        };
        if !is_right {
            let told = if told.is_empty() { "no error" } else { told };
            failures.insert(name.clone(), told.to_owned());
        }
    }
    Ok(failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn what_a_test_says_of_itself_is_read_in_both_forms() {
        let text = "// a\n/*---\ndescription: >\n  one: two\nflags: [async, noStrict]\nincludes: [a.js,\n  b.js]\n\
                    features:\n  - let\n  - Symbol.iterator\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/\n1";
        let expected = Meta {
            flags: list(&["async", "noStrict"]),
            includes: list(&["a.js", "b.js"]),
            features: list(&["let", "Symbol.iterator"]),
            negative: Some("SyntaxError".into()),
        };
        assert_eq!(Meta::of(text).unwrap(), expected);
        let indented = text.replace('\n', "\r  ").replace("  /*---", "/*---");
        assert_eq!(Meta::of(&indented).unwrap(), expected);
        assert!(Meta::of("1 + 1").is_err());
    }
}
