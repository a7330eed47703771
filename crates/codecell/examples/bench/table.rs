//! The rows that were measured.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

/// One measured thing.
#[derive(Serialize)]
struct Row {
    group: &'static str,
    what: String,
    unit: &'static str,
    /// The median, or the number itself where there is only one.
    p50: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99: Option<f64>,
}

#[derive(Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Table(Vec<Row>);

impl Table {
    /// Adds times, and gives their median in microseconds.
    pub(crate) fn times(
        &mut self,
        group: &'static str,
        what: impl Into<String>,
        mut times: Vec<Duration>,
    ) -> f64 {
        times.sort_unstable();
        let p50 = at(&times, 50);
        self.0.push(Row {
            group,
            what: what.into(),
            unit: "µs",
            p50,
            p99: Some(at(&times, 99)),
        });
        p50
    }

    /// Adds a number.
    pub(crate) fn number(
        &mut self,
        group: &'static str,
        what: impl Into<String>,
        number: f64,
        unit: &'static str,
    ) {
        self.0.push(Row {
            group,
            what: what.into(),
            unit,
            p50: number,
            p99: None,
        });
    }

    pub(crate) fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    pub(crate) fn markdown(&self) -> String {
        let mut out = String::from("| group | what | p50 | p99 | unit |\n|---|---|---:|---:|---|\n");
        for row in &self.0 {
            let p99 = row.p99.map_or(String::new(), shown);
            let p50 = shown(row.p50);
            let _ = writeln!(
                out,
                "| {} | {} | {p50} | {p99} | {} |",
                row.group, row.what, row.unit
            );
        }
        out
    }
}

/// Three digits are more than the machine's noise leaves.
fn shown(number: f64) -> String {
    let digits = if number < 10.0 {
        2
    } else {
        usize::from(number < 100.0)
    };
    format!("{number:.digits$}")
}

fn at(sorted: &[Duration], percentile: usize) -> f64 {
    sorted
        .get(sorted.len() * percentile / 100)
        .copied()
        .unwrap_or_default()
        .as_secs_f64()
        * 1e6
}
