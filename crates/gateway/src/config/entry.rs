//! One server's entry, read key by key: remembers which keys were asked for, so that the rest can be named.
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Map, Value};

use super::{
    block::{Wrong, complain},
    env_file,
    expand::{self, Lookup},
    glob::Globs,
    load::read_bounded,
    problem::{Report, join},
    secret::Secret,
    text::{kind, show},
};

pub(super) struct Entry<'a, 'r> {
    map: &'a Map<String, Value>,
    path: String,
    lookup: &'a Lookup<'a>,
    report: &'a mut Report<'r>,
    seen: BTreeSet<String>,
}

impl<'a, 'r> Entry<'a, 'r> {
    pub(super) fn new(
        map: &'a Map<String, Value>,
        path: &str,
        lookup: &'a Lookup<'a>,
        report: &'a mut Report<'r>,
    ) -> Self {
        Self {
            map,
            path: path.to_owned(),
            lookup,
            report,
            seen: BTreeSet::new(),
        }
    }

    pub(super) fn report(&mut self) -> &mut Report<'r> {
        self.report
    }

    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.iter().cloned().collect()
    }

    pub(super) fn know(&mut self, keys: Vec<String>) {
        self.seen.extend(keys);
    }

    fn at(&self, key: &str) -> String {
        if key.is_empty() {
            self.path.clone()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    pub(super) fn fail(&mut self, key: &str, message: &str) {
        let path = self.at(key);
        self.report.error(&path, message);
    }

    pub(super) fn warn(&mut self, key: &str, message: &str) {
        let path = self.at(key);
        self.report.warning(&path, message);
    }

    pub(super) fn remark(&mut self, key: &str, message: &str) {
        let path = self.at(key);
        self.report.note(&path, message);
    }

    pub(super) fn has(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.map.contains_key(*key))
    }

    /// The first of several spellings that is present; all count as known.
    fn get(&mut self, keys: &[&'static str]) -> Option<(&'static str, &'a Value)> {
        self.seen.extend(keys.iter().map(|key| (*key).to_owned()));
        keys.iter().find_map(|key| {
            self.map
                .get(*key)
                .filter(|value| !value.is_null())
                .map(|value| (*key, value))
        })
    }

    fn wrong(&mut self, wrong: Wrong, key: &str, expected: &str, got: &Value) {
        complain(wrong, &self.at(key), expected, got, self.report);
    }

    /// A switch, if it is there. `None` means that the server is lost: whoever wrote it meant to turn something off.
    pub(super) fn switch(&mut self, keys: &[&'static str]) -> Option<Option<bool>> {
        let Some((key, value)) = self.get(keys) else {
            return Some(None);
        };
        let found = value.as_bool();
        if found.is_none() {
            self.wrong(Wrong::Fatal, key, "`true` or `false`", value);
        }
        found.map(Some)
    }

    pub(super) fn string(&mut self, keys: &[&'static str]) -> Option<String> {
        let (key, value) = self.get(keys)?;
        let found = value.as_str().map(str::to_owned);
        if found.is_none() {
            self.wrong(Wrong::Ignored, key, "a string", value);
        }
        found
    }

    /// An object of filters, if it is there. `None` means that the server is lost, as with [`globs`](Self::globs).
    pub(super) fn filters(&mut self, key: &'static str) -> Option<Option<(String, &'a Map<String, Value>)>> {
        match self.get(&[key]) {
            None => Some(None),
            Some((key, Value::Object(map))) => Some(Some((self.at(key), map))),
            Some((key, other)) => {
                self.wrong(Wrong::Fatal, key, "an object", other);
                None
            }
        }
    }

    fn list(&mut self, wrong: Wrong, key: &str, value: &Value) -> Option<Globs> {
        let Value::Array(items) = value else {
            self.wrong(wrong, key, "an array of tool names", value);
            return None;
        };
        let mut patterns = Vec::new();
        let mut is_whole = true;
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(pattern) => patterns.push(pattern.to_owned()),
                None => {
                    self.wrong(wrong, &format!("{key}[{index}]"), "a tool name", item);
                    is_whole = wrong == Wrong::Ignored;
                }
            }
        }
        is_whole.then(|| Globs::new(patterns))
    }

    /// A filter, if it is there. `None` means that the server is lost: without the filter, or with a part of it, more
    /// tools would be there than was meant.
    pub(super) fn globs(&mut self, keys: &[&'static str]) -> Option<Option<Globs>> {
        match self.get(keys) {
            None => Some(None),
            Some((key, value)) => self.list(Wrong::Fatal, key, value).map(Some),
        }
    }

    pub(super) fn switch_or_globs(&mut self, key: &'static str) -> Option<Result<bool, Globs>> {
        match self.get(&[key])? {
            (_, Value::Bool(on)) => Some(Ok(*on)),
            (key, value) => self.list(Wrong::Ignored, key, value).map(Err),
        }
    }

    /// A time in milliseconds, or in seconds under the other name; clamped to the range.
    pub(super) fn duration(
        &mut self,
        millis: &[&'static str],
        seconds: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<Duration> {
        let (key, value, factor) = match self.get(millis) {
            Some((key, value)) => (key, value, 1.0),
            None => self.get(&[seconds]).map(|(key, value)| (key, value, 1000.0))?,
        };
        self.know(vec![seconds.to_owned()]);
        match value.as_f64() {
            Some(number) => {
                let clamped = (number * factor).clamp(*range.start() as f64, *range.end() as f64);
                Some(Duration::from_millis(clamped as u64))
            }
            None => {
                self.wrong(Wrong::Ignored, key, "a number", value);
                None
            }
        }
    }

    /// Expands a text; a failure is reported and costs the server.
    fn expand(&mut self, key: &str, text: &str) -> Option<String> {
        match expand::expand(text, self.lookup) {
            Ok(text) => Some(text),
            Err(error) => {
                self.fail(key, &error.to_string());
                None
            }
        }
    }

    pub(super) fn expanded(&mut self, keys: &[&'static str]) -> Option<String> {
        let (key, value) = self.get(keys)?;
        match value.as_str() {
            Some(text) => self.expand(key, text),
            None => {
                let message = format!("expected a string, got {}", kind(value));
                self.fail(key, &message);
                None
            }
        }
    }

    /// The program, and the arguments of the hosts that write a whole command line as one array.
    pub(super) fn command(&mut self) -> Option<(String, Vec<Secret>)> {
        let (key, value) = self.get(&["command"])?;
        let mut words = match value {
            Value::String(text) => vec![self.expand(key, text)?],
            Value::Array(items) => self.words(key, items)?,
            other => {
                let message = format!("expected a string, got {} `{}`", kind(other), show(other));
                self.fail(key, &message);
                return None;
            }
        };
        if words.first().is_none_or(|word| word.trim().is_empty()) {
            self.fail(key, "is empty");
            return None;
        }
        let program = words.remove(0);
        Some((program, words.into_iter().map(Secret::new).collect()))
    }

    pub(super) fn texts(&mut self, key: &'static str) -> Option<Vec<Secret>> {
        match self.get(&[key]) {
            None => Some(Vec::new()),
            Some((key, Value::Array(items))) => {
                Some(self.words(key, items)?.into_iter().map(Secret::new).collect())
            }
            Some((key, other)) => {
                let message = format!("expected an array of strings, got {}", kind(other));
                self.fail(key, &message);
                None
            }
        }
    }

    fn words(&mut self, key: &str, items: &[Value]) -> Option<Vec<String>> {
        let mut words = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let key = format!("{key}[{index}]");
            match scalar(item) {
                Some(text) => words.push(self.expand(&key, &text)?),
                None => {
                    let message = format!("expected a string, got {}", kind(item));
                    self.fail(&key, &message);
                    return None;
                }
            }
        }
        Some(words)
    }

    pub(super) fn secrets(&mut self, keys: &[&'static str]) -> Option<BTreeMap<String, Secret>> {
        let mut found = BTreeMap::new();
        let Some((key, value)) = self.get(keys) else {
            return Some(found);
        };
        let Value::Object(map) = value else {
            let message = format!("expected an object of strings, got {}", kind(value));
            self.fail(key, &message);
            return None;
        };
        for (name, value) in map {
            let key = join(key, name);
            match scalar(value) {
                Some(text) => {
                    found.insert(name.clone(), Secret::new(self.expand(&key, &text)?));
                }
                None if value.is_null() => self.remark(&key, "is null, so it is not set"),
                None => {
                    let message = format!("expected a string, got {}", kind(value));
                    self.fail(&key, &message);
                    return None;
                }
            }
        }
        Some(found)
    }

    pub(super) fn env_file(&mut self) -> Option<BTreeMap<String, Secret>> {
        if !self.has(&["envFile"]) {
            return Some(BTreeMap::new());
        }
        let file = self.expanded(&["envFile"])?;
        let file = self.beside(&file);
        match read_bounded(&file) {
            Ok(text) => {
                let (pairs, bad) = env_file::parse(&text);
                if !bad.is_empty() {
                    let message = format!("{}: no `NAME=value` on line(s) {bad:?}, skipped", file.display());
                    self.warn("envFile", &message);
                }
                Some(
                    pairs
                        .into_iter()
                        .map(|(name, value)| (name, Secret::new(value)))
                        .collect(),
                )
            }
            Err(message) => {
                let message = format!("{} {message}", file.display());
                self.fail("envFile", &message);
                None
            }
        }
    }

    /// A folder, if named; a relative one starts at the file it is written in.
    pub(super) fn folder(&mut self, keys: &[&'static str]) -> Option<Option<PathBuf>> {
        if self.get(keys).is_none() {
            return Some(None);
        }
        let text = self.expanded(keys)?;
        Some(Some(self.beside(&text)))
    }

    fn beside(&self, path: &str) -> PathBuf {
        self.report.file.parent().unwrap_or(Path::new("")).join(path)
    }

    /// Names what was not asked for.
    pub(super) fn finish(mut self, foreign: &[&str], unsupported: &[(&str, &str)]) {
        let rest: Vec<&String> = self.map.keys().filter(|key| !self.seen.contains(*key)).collect();
        for key in rest {
            let path = join("", key);
            if let Some((_, advice)) = unsupported.iter().find(|(known, _)| known == key) {
                self.warn(&path, advice);
            } else if foreign.contains(&key.as_str()) {
                self.remark(&path, "belongs to another host and is ignored");
            } else {
                self.remark(&path, "unknown key, ignored");
            }
        }
    }
}

/// The text of a string, number or boolean: people write `"PORT": 8080`.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
