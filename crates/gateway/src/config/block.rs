//! One object of our own configuration, read key by key: what was not asked for is named at the end.
use serde_json::{Map, Value};

use super::{
    problem::{Report, join},
    text::{kind, show},
};

/// What a wrong value costs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// The setting keeps its default.
    Ignored,
    /// Ignoring it could allow what somebody meant to forbid, so nothing starts.
    Fatal,
    /// The same, and the value is not shown: it may hold a secret.
    Hidden,
}

/// An object of the configuration.
pub(super) struct Block<'a, 'c, 'r> {
    map: &'a Map<String, Value>,
    path: String,
    report: &'c mut Report<'r>,
    known: Vec<&'static str>,
    foreign: &'static [&'static str],
}

impl<'a, 'c, 'r> Block<'a, 'c, 'r> {
    /// The object at `path`, or a report that it is none.
    pub(super) fn open(
        value: &'a Value,
        path: &str,
        wrong: Wrong,
        report: &'c mut Report<'r>,
    ) -> Option<Self> {
        let Value::Object(map) = value else {
            complain(wrong, path, "an object", value, report);
            return None;
        };
        Some(Self::of(map, path, report))
    }

    /// The object at `path`.
    pub(super) fn of(map: &'a Map<String, Value>, path: &str, report: &'c mut Report<'r>) -> Self {
        Self {
            map,
            path: path.to_owned(),
            report,
            known: Vec::new(),
            foreign: &[],
        }
    }

    pub(super) fn report(&mut self) -> &mut Report<'r> {
        self.report
    }

    pub(super) fn at(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// A value and its path. `null` counts as absent.
    pub(super) fn get(&mut self, key: &'static str) -> Option<(String, &'a Value)> {
        self.known.push(key);
        let value = self.map.get(key).filter(|value| !value.is_null())?;
        Some((self.at(key), value))
    }

    pub(super) fn switch(&mut self, key: &'static str, wrong: Wrong) -> Option<bool> {
        let (path, value) = self.get(key)?;
        let found = value.as_bool();
        if found.is_none() {
            complain(wrong, &path, "`true` or `false`", value, self.report);
        }
        found
    }

    pub(super) fn text(&mut self, key: &'static str, wrong: Wrong) -> Option<String> {
        let (path, value) = self.get(key)?;
        let found = value.as_str().map(str::to_owned);
        if found.is_none() {
            complain(wrong, &path, "a string", value, self.report);
        }
        found
    }

    pub(super) fn texts(&mut self, key: &'static str, wrong: Wrong) -> Option<Vec<String>> {
        let (path, value) = self.get(key)?;
        let Value::Array(items) = value else {
            complain(wrong, &path, "an array of strings", value, self.report);
            return None;
        };
        let mut texts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(text) => texts.push(text.to_owned()),
                None => complain(wrong, &format!("{path}[{index}]"), "a string", item, self.report),
            }
        }
        Some(texts)
    }

    pub(super) fn number(&mut self, key: &'static str, least: u64, most: u64) -> Option<u64> {
        let (path, value) = self.get(key)?;
        clamped(value, least, most, &path, self.report)
    }

    /// Keys that other products read and that change nothing here.
    pub(super) fn foreign(&mut self, keys: &'static [&'static str]) {
        self.foreign = keys;
    }

    /// Names the keys that nobody asked for.
    pub(super) fn finish(self) {
        for key in self.map.keys() {
            if self.foreign.contains(&key.as_str()) {
                let path = join(&self.path, key);
                self.report.note(&path, "belongs to another host and is ignored");
            } else if !self.known.contains(&key.as_str()) {
                let message = format!("unknown setting, ignored; known are {}", self.known.join(", "));
                self.report.warning(&join(&self.path, key), message);
            }
        }
    }
}

/// Reports a value of the wrong kind without showing it, because it may hold a secret.
pub(super) fn refuse(path: &str, expected: &str, got: &Value, report: &mut Report<'_>) -> String {
    fail(path, format!("expected {expected}, got {}", kind(got)), report)
}

/// Reports an error and gives it back, for whoever has to say later why something cannot be used.
pub(super) fn fail(path: &str, message: String, report: &mut Report<'_>) -> String {
    let reason = format!("{path}: {message}");
    report.error(path, message);
    reason
}

pub(super) fn complain(wrong: Wrong, path: &str, expected: &str, got: &Value, report: &mut Report<'_>) {
    let message = format!("expected {expected}, got {} `{}`", kind(got), show(got));
    match wrong {
        Wrong::Ignored => report.warning(path, message),
        Wrong::Fatal => report.error(path, message),
        Wrong::Hidden => drop(refuse(path, expected, got, report)),
    }
}

/// A number, brought into its range.
pub(super) fn clamped(
    value: &Value,
    least: u64,
    most: u64,
    path: &str,
    report: &mut Report<'_>,
) -> Option<u64> {
    let Some(number) = value.as_f64() else {
        let expected = format!("a number from {least} to {most}");
        complain(Wrong::Ignored, path, &expected, value, report);
        return None;
    };
    // Clamping first makes the cast exact: every range ends far below 2^53.
    let inside = number.clamp(least as f64, most as f64) as u64;
    if number < least as f64 || number > most as f64 {
        report.note(
            path,
            format!("{number} is outside {least} to {most}, so {inside} is used"),
        );
    }
    Some(inside)
}
