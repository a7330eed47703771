//! What was measured: rows, and whose they are.

use std::{process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// One measured thing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) group: String,
    pub(super) what: String,
    pub(super) unit: String,
    /// The median, or the number itself where there is only one.
    pub(super) p50: f64,
    pub(super) p99: Option<f64>,
}

impl Row {
    /// The median and the 99th percentile of times, in a unit that so many make up a second.
    pub(super) fn times(group: &str, what: impl Into<String>, unit: Unit, mut times: Vec<Duration>) -> Row {
        times.sort_unstable();
        let at = |percentile: usize| {
            let time = times.get(times.len() * percentile / 100);
            time.copied().unwrap_or_default().as_secs_f64() * unit.in_a_second()
        };
        Row {
            p99: Some(at(99)),
            ..Row::number(group, what, unit.name(), at(50))
        }
    }

    pub(super) fn number(group: &str, what: impl Into<String>, unit: &str, p50: f64) -> Row {
        Row {
            group: group.to_owned(),
            what: what.into(),
            unit: unit.to_owned(),
            p50,
            p99: None,
        }
    }

    /// How many times what the other row costs, this one costs: below 1 this one is ahead.
    ///
    /// Nothing can be said of a row that costs nothing measurable.
    pub(super) fn cost_against(&self, other: &Row) -> Option<f64> {
        let (cost, price) = if self.is_rate() {
            (other.p50, self.p50)
        } else {
            (self.p50, other.p50)
        };
        (price > 0.0).then(|| cost / price)
    }

    /// Whether more is better.
    fn is_rate(&self) -> bool {
        self.unit.ends_with("/s")
    }

    fn is(&self, other: &Row) -> bool {
        self.group == other.group && self.what == other.what
    }

    fn of_json(row: &Value) -> Option<Row> {
        let text = |key: &str| row[key].as_str();
        let mut read = Row::number(text("group")?, text("what")?, text("unit")?, row["p50"].as_f64()?);
        read.p99 = row["p99"].as_f64();
        Some(read)
    }
}

/// The unit that times are given in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    Microseconds,
    Milliseconds,
}

impl Unit {
    fn in_a_second(self) -> f64 {
        match self {
            Unit::Microseconds => 1e6,
            Unit::Milliseconds => 1e3,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Microseconds => "µs",
            Unit::Milliseconds => "ms",
        }
    }
}

/// One who was measured, and what came of it.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) name: &'static str,
    pub(super) rows: Vec<Row>,
}

impl Side {
    pub(super) fn new(name: &'static str) -> Side {
        Side {
            name,
            rows: Vec::new(),
        }
    }

    /// Takes rows that are new, or better than the ones that are there: the less disturbed round counts.
    pub(super) fn keep_best(&mut self, rows: Vec<Row>) {
        for row in rows {
            match self.rows.iter_mut().find(|kept| kept.is(&row)) {
                None => self.rows.push(row),
                Some(kept) => {
                    if row.cost_against(kept).is_some_and(|cost| cost < 1.0) {
                        *kept = row;
                    }
                }
            }
        }
    }

    pub(super) fn row(&self, group: &str, what: &str) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.group == group && row.what == what)
    }

    /// The row of the same thing as somebody else's.
    pub(super) fn same(&self, other: &Row) -> Option<&Row> {
        self.rows.iter().find(|row| row.is(other))
    }
}

/// Runs a program that prints rows as JSON.
pub(super) fn printed(command: &mut Command, what: &str) -> Result<Vec<Row>> {
    let output = command
        .output()
        .with_context(|| format!("{what} does not start"))?;
    ensure!(
        output.status.success(),
        "{what} failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let rows: Vec<Value> =
        serde_json::from_slice(&output.stdout).with_context(|| format!("{what} prints no JSON"))?;
    let rows = rows.iter().map(|row| {
        let read = Row::of_json(row);
        read.with_context(|| format!("{what} prints a row that cannot be read: {row}"))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_their_median_and_their_tail() {
        let times = (1..=200).rev().map(Duration::from_millis).collect();
        let row = Row::times("g", "w", Unit::Milliseconds, times);
        assert_eq!((row.p50, row.p99, row.unit.as_str()), (101.0, Some(199.0), "ms"));
    }

    #[test]
    fn a_cost_is_told_from_a_rate() {
        let row = |unit, p50| Row::number("g", "w", unit, p50);
        for (ours, theirs, expected) in [
            (row("µs", 50.0), row("µs", 100.0), Some(0.5)),
            (row("cells/s", 50.0), row("cells/s", 100.0), Some(2.0)),
            (row("MiB more", 1.0), row("MiB more", 0.0), None),
        ] {
            assert_eq!(ours.cost_against(&theirs), expected, "{ours:?}");
        }
    }

    #[test]
    fn of_several_rounds_the_least_disturbed_counts_row_by_row() {
        let row = |what, unit, p50| Row::number("g", what, unit, p50);
        let mut side = Side::new("s");
        side.keep_best(vec![row("a", "µs", 2.0), row("b", "cells/s", 2.0)]);
        side.keep_best(vec![
            row("b", "cells/s", 1.0),
            row("a", "µs", 1.0),
            row("c", "µs", 9.0),
        ]);
        let expected = [row("a", "µs", 1.0), row("b", "cells/s", 2.0), row("c", "µs", 9.0)];
        assert_eq!(side.rows, expected);
    }

    #[test]
    fn rows_are_read_whole_or_refused() {
        let mut good = Command::new("echo");
        good.arg(r#"[{"group":"g","what":"w","unit":"µs","p50":1,"p99":2}]"#);
        let expected = Row {
            p99: Some(2.0),
            ..Row::number("g", "w", "µs", 1.0)
        };
        assert_eq!(printed(&mut good, "it").unwrap(), [expected]);
        for (program, text, expected) in [
            (
                "echo",
                r#"[{"group":"g"}]"#,
                "it prints a row that cannot be read: {\"group\":\"g\"}",
            ),
            ("echo", "none", "it prints no JSON"),
            ("false", "", "it failed (exit status: 1): "),
        ] {
            let error = printed(Command::new(program).arg(text), "it").unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
