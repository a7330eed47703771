//! The report: the same content as Markdown and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    losses::losses,
    rows::{Row, Side},
    targets::verdicts,
    words::{GROUPS, METHOD, OPENING, PEERS},
};

/// Everything that was measured, and on what.
pub(super) struct Report {
    pub(super) machine: Vec<(&'static str, String)>,
    pub(super) versions: Vec<(&'static str, String)>,
    pub(super) rounds: u32,
    /// What has to be said beside the numbers: who was left out.
    pub(super) notes: Vec<String>,
    pub(super) ours: Side,
    pub(super) peers: Vec<Side>,
}

impl Report {
    /// All of it, as a document.
    pub(super) fn document(&self) -> String {
        let mut out = format!("# Benchmarks\n\n{OPENING}\n## Machine and versions\n\n| | |\n|---|---|\n");
        for (name, value) in self.machine.iter().chain(&self.versions) {
            let _ = writeln!(out, "| {name} | {value} |");
        }
        let _ = write!(
            out,
            "\n## How it is measured\n\n{METHOD}\nRounds: {}.\n",
            self.rounds
        );
        for note in &self.notes {
            let _ = writeln!(out, "\n{note}.");
        }
        let measured = PEERS
            .iter()
            .filter(|(name, _)| self.peers.iter().any(|peer| peer.name == *name));
        for (number, (name, how)) in measured.enumerate() {
            let gap = if number == 0 { "\n" } else { "" };
            let _ = writeln!(out, "{gap}- **{name}**: {}", how.replace('\n', "\n  "));
        }
        out.push_str(&self.tables());
        out
    }

    /// The tables of what was measured, without what is around them.
    pub(super) fn tables(&self) -> String {
        let mut out = String::new();
        for (group, title, text) in GROUPS {
            let rows: Vec<_> = self.ours.rows.iter().filter(|row| row.group == *group).collect();
            if !rows.is_empty() {
                let _ = write!(out, "\n## {title}\n\n{text}\n");
                self.table(&rows, &mut out);
            }
        }
        self.targets(&mut out);
        self.losses(&mut out);
        out
    }

    fn table(&self, rows: &[&Row], out: &mut String) {
        let compared = |peer: &&Side| rows.iter().any(|row| peer.same(row).is_some());
        let peers: Vec<_> = self.peers.iter().filter(compared).collect();
        out.push_str("| | p50 | p99 | unit |");
        for peer in &peers {
            let _ = write!(out, " {} p50 | ours ÷ theirs |", peer.name);
        }
        out.push_str("\n|---|---:|---:|---|");
        out.push_str(&"---:|---:|".repeat(peers.len()));
        out.push('\n');
        for row in rows {
            let p99 = row.p99.map(shown).unwrap_or_default();
            let _ = write!(
                out,
                "| {} | {} | {p99} | {} |",
                row.what.trim_start(),
                shown(row.p50),
                row.unit
            );
            for peer in &peers {
                let theirs = peer.same(row);
                let p50 = theirs.map(|theirs| shown(theirs.p50)).unwrap_or_default();
                let cost = theirs.and_then(|theirs| row.cost_against(theirs));
                let _ = write!(out, " {p50} | {} |", cost.map(shown).unwrap_or_default());
            }
            out.push('\n');
        }
    }

    fn targets(&self, out: &mut String) {
        let measured: Vec<_> = verdicts(&self.ours, &self.peers)
            .into_iter()
            .filter_map(|verdict| Some((verdict.says, verdict.found?, verdict.why)))
            .collect();
        if measured.is_empty() {
            return;
        }
        out.push_str("\n## Targets\n\n| target | measured | met |\n|---|---:|---|\n");
        let mut reasons = Vec::new();
        for (says, (number, met), why) in measured {
            let met = if met {
                "yes".to_owned()
            } else if why.is_empty() {
                "**no**".to_owned()
            } else {
                let known = reasons.iter().position(|reason| *reason == why);
                let at = known.unwrap_or_else(|| {
                    reasons.push(why);
                    reasons.len() - 1
                });
                format!("**no** ({})", at + 1)
            };
            let _ = writeln!(out, "| {says} | {number} | {met} |");
        }
        if !reasons.is_empty() {
            out.push_str("\nWhy, as far as is known:\n\n");
        }
        for (number, why) in (1..).zip(reasons) {
            let _ = writeln!(out, "{number}. {why}");
        }
    }

    fn losses(&self, out: &mut String) {
        if self.peers.iter().all(|peer| peer.rows.is_empty()) {
            return;
        }
        out.push_str("\n## Where we lose\n\n");
        let losses = losses(&self.ours, &self.peers);
        if losses.is_empty() {
            out.push_str("Nowhere, of what was measured.\n");
            return;
        }
        out.push_str("Every row in which a peer costs less, with the reason where it is known.\n\n");
        out.push_str(
            "| | ours | theirs | unit | ours ÷ theirs | to | why |\n|---|---:|---:|---|---:|---|---|\n",
        );
        for loss in losses {
            let _ = writeln!(
                out,
                "| {}: {} | {} | {} | {} | {} | {} | {} |",
                loss.row.group,
                loss.row.what.trim_start(),
                shown(loss.row.p50),
                shown(loss.theirs.p50),
                loss.row.unit,
                shown(loss.cost),
                loss.peer,
                loss.why
            );
        }
    }

    /// All of it, as JSON.
    pub(super) fn json(&self) -> Value {
        let facts = |facts: &[(&'static str, String)]| -> Value {
            let pairs = facts
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value)));
            Value::Object(pairs.collect())
        };
        let row = |row: &Row| {
            let compared = self.peers.iter().filter_map(|peer| {
                let theirs = peer.same(row)?;
                let entry = json!({ "p50": theirs.p50, "p99": theirs.p99, "cost": row.cost_against(theirs) });
                Some((peer.name.to_owned(), entry))
            });
            json!({
                "group": row.group, "what": row.what.trim_start(), "unit": row.unit, "p50": row.p50, "p99": row.p99,
                "peers": compared.collect::<serde_json::Map<_, _>>(),
            })
        };
        let targets = verdicts(&self.ours, &self.peers).into_iter().map(|verdict| {
            let (found, met) = verdict.found.unzip();
            let why = (met == Some(false)).then_some(verdict.why);
            json!({ "target": verdict.says, "measured": found, "met": met, "why": why })
        });
        let losses = losses(&self.ours, &self.peers).into_iter().map(|loss| {
            json!({ "group": loss.row.group, "what": loss.row.what.trim_start(), "to": loss.peer, "cost": loss.cost, "why": loss.why })
        });
        json!({
            "machine": facts(&self.machine),
            "versions": facts(&self.versions),
            "rounds": self.rounds,
            "notes": self.notes,
            "rows": self.ours.rows.iter().map(row).collect::<Vec<_>>(),
            "targets": targets.collect::<Vec<_>>(),
            "losses": losses.collect::<Vec<_>>(),
        })
    }
}

/// Three digits are more than a machine's noise leaves.
pub(super) fn shown(number: f64) -> String {
    let digits = if number < 10.0 {
        2
    } else {
        usize::from(number < 100.0)
    };
    format!("{number:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::peers::{MONTY, QUICKJS};

    fn side(name: &'static str, rows: &[(&str, &str, f64, Option<f64>)]) -> Side {
        let mut side = Side::new(name);
        side.keep_best(
            rows.iter()
                .map(|&(group, what, p50, p99)| Row {
                    p99,
                    ..Row::number(group, what, "µs", p50)
                })
                .collect(),
        );
        side
    }

    fn report() -> Report {
        Report {
            machine: vec![("cores", "2".into())],
            versions: vec![("node", "20".into())],
            rounds: 3,
            notes: vec!["pydantic-monty is left out: `pip` failed".into()],
            ours: side(
                "ours",
                &[
                    ("cells", "fresh VM, `return 1+1`", 50.0, Some(500.0)),
                    ("cells", "  one more", 12.34, None),
                    ("catalogs", "build", 1234.5, Some(2000.0)),
                ],
            ),
            peers: vec![
                side(
                    QUICKJS,
                    &[
                        ("cells", "fresh VM, `return 1+1`", 40.0, Some(60.0)),
                        ("cells", "another", 1.0, None),
                    ],
                ),
                side(MONTY, &[]),
            ],
        }
    }

    #[test]
    fn the_tables_have_what_was_measured_and_nothing_else() {
        let expected = [
            "| | p50 | p99 | unit | quickjs-wasi p50 | ours ÷ theirs |",
            "|---|---:|---:|---|---:|---:|",
            "| fresh VM, `return 1+1` | 50.0 | 500 | µs | 40.0 | 1.25 |",
            "| one more | 12.3 |  | µs |  |  |",
            "| | p50 | p99 | unit |",
            "|---|---:|---:|---|",
            "| build | 1234 | 2000 | µs |",
            "| target | measured | met |",
            "|---|---:|---|",
            "| a fresh VM with a trivial program takes at most 100 µs (p50) | 50.0 µs | yes |",
            "| a fresh VM with a trivial program takes at most 400 µs (p99) | 500 µs | **no** (1) |",
            "| | ours | theirs | unit | ours ÷ theirs | to | why |",
            "|---|---:|---:|---|---:|---|---|",
            "| cells: fresh VM, `return 1+1` | 50.0 | 40.0 | µs | 1.25 | quickjs-wasi |  |",
        ];
        let tables = report().tables();
        let table: Vec<_> = tables.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(table, expected);
        let headings: Vec<_> = tables
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        assert_eq!(
            headings,
            [
                "Cells that run to their end",
                "Many tools",
                "Targets",
                "Where we lose"
            ]
        );
    }

    #[test]
    fn the_document_says_on_what_how_and_who_is_missing() {
        let document = report().document();
        for part in [
            "# Benchmarks\n",
            "\n| cores | 2 |\n| node | 20 |\n",
            "\nRounds: 3.\n",
            "\npydantic-monty is left out: `pip` failed.\n",
            "\n- **quickjs-wasi**: the engine alone",
        ] {
            assert!(document.contains(part), "no {part:?} in {document}");
        }
    }

    #[test]
    fn the_same_is_there_as_json() {
        let json = report().json();
        assert_eq!(
            json["rows"][0],
            json!({
                "group": "cells", "what": "fresh VM, `return 1+1`", "unit": "µs", "p50": 50.0, "p99": 500.0,
                "peers": { "quickjs-wasi": { "p50": 40.0, "p99": 60.0, "cost": 1.25 } },
            })
        );
        assert_eq!(json["machine"], json!({ "cores": "2" }));
        assert_eq!(
            json["targets"][1]["met"],
            json!(false),
            "the tail is over its limit"
        );
        assert_eq!(json["targets"][2]["met"], Value::Null, "no call was measured");
        assert_eq!(
            json["losses"],
            json!([{ "group": "cells", "what": "fresh VM, `return 1+1`", "to": "quickjs-wasi", "cost": 1.25, "why": "" }])
        );
    }

    #[test]
    fn every_group_that_is_measured_has_its_words() {
        let worded: Vec<_> = GROUPS.iter().map(|(group, ..)| *group).collect();
        let measured: Vec<_> = crate::bench::groups().collect();
        assert_eq!(worded, measured);
    }
}
