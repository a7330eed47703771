//! What we want the numbers to be, and whether they are. A target that is missed is reported, and fails nothing.

use super::{
    peers::QUICKJS,
    report::shown,
    rows::{Row, Side},
};

/// Something to be reached.
struct Target {
    says: &'static str,
    check: Check,
    /// Why it may be missed, as far as was looked into; empty where it should not be.
    why: &'static str,
}

const SLEEPING_CORES: &str = "the threads of caller, engine and tools hand over to each other, and waking a core that \
                              sleeps takes tens of microseconds on a virtual machine: the rows *on one core* do without";

/// A row, by its group and what it is.
type Name = (&'static str, &'static str);

#[derive(Clone, Copy)]
enum Part {
    Median,
    Tail,
}

enum Check {
    AtMost(Name, Part, f64),
    AtLeast(Name, f64),
    /// The tail of the first row is at most so many times the tail of the second.
    TailAgainst(Name, Name, f64),
    /// The median of the first row is at most so many times that of the second.
    MedianAgainst(Name, Name, f64),
    /// No row of a group costs more than the same row of a peer.
    NoSlower(&'static str, &'static str),
}

/// A target, what was measured, and whether that is good enough.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) says: &'static str,
    /// `None` if a row is missing.
    pub(super) found: Option<(String, bool)>,
    /// Why it may be missed; empty where nothing is known.
    pub(super) why: &'static str,
}

const TARGETS: &[Target] = &[
    Target {
        says: "a fresh VM with a trivial program takes at most 100 µs (p50)",
        check: Check::AtMost(TRIVIAL, Part::Median, 100.0),
        why: SLEEPING_CORES,
    },
    Target {
        says: "a fresh VM with a trivial program takes at most 400 µs (p99)",
        check: Check::AtMost(TRIVIAL, Part::Tail, 400.0),
        why: SLEEPING_CORES,
    },
    Target {
        says: "one nested call that is answered at once adds at most 40 µs",
        check: Check::AtMost(("cells", "  one more of them (`tool_1`)"), Part::Median, 40.0),
        why: "",
    },
    Target {
        says: "one nested call that is answered later adds at most 40 µs",
        check: Check::AtMost(("cells", "  one more of them (`later`)"), Part::Median, 40.0),
        why: SLEEPING_CORES,
    },
    Target {
        says: "restore and resume takes at most 250 µs (p50)",
        check: Check::AtMost(("images", "restore and resume a small cell"), Part::Median, 250.0),
        why: "",
    },
    Target {
        says: "a small image has at most 64 KiB",
        check: Check::AtMost(("images", "image of a small cell"), Part::Median, 64.0),
        why: "",
    },
    Target {
        says: "1,000 suspended small cells take at most 100 MiB",
        check: Check::AtMost(("images", "1000 suspended small cells"), Part::Median, 100.0),
        why: "",
    },
    Target {
        says: "a cell before 16,500 tools takes at most 1.25 times what it takes before 10 (p50)",
        check: Check::MedianAgainst(
            ("catalogs", "`return 1+1` before 16500 tools"),
            ("catalogs", "`return 1+1` before 10 tools"),
            1.25,
        ),
        why: SLEEPING_CORES,
    },
    Target {
        says: "a search over 1,000 tools takes at most 200 µs (p50)",
        check: Check::AtMost(("catalogs", "search alone, 1000 tools"), Part::Median, 200.0),
        why: "",
    },
    Target {
        says: "a search over 16,500 tools takes at most 2 ms (p50)",
        check: Check::AtMost(("catalogs", "search alone, 16500 tools"), Part::Median, 2_000.0),
        why: "",
    },
    Target {
        says: "`exec(\"return 1\")` over warm stdio takes at most 1 ms (p50)",
        check: Check::AtMost(("stdio", "`exec(\"return 1\")`"), Part::Median, 1_000.0),
        why: "",
    },
    Target {
        says: "at least 5,000 trivial cells a second, 16 at a time",
        check: Check::AtLeast(("cells", "`return 1+1`, 16 at a time"), 5_000.0),
        why: "",
    },
    Target {
        says: "no program of the CPU set is slower than in quickjs-wasi on Node",
        check: Check::NoSlower("cpu", QUICKJS),
        why: "the same engine in WebAssembly, compiled by Cranelift, which also looks for the deadline in every loop and function, against V8's compiler, which does not",
    },
    Target {
        says: "a runaway cell ends within 20 ms of its limit (p99)",
        check: Check::AtMost(
            ("runaway", "`for (;;) {}`, past its limit of 100 ms"),
            Part::Tail,
            20.0,
        ),
        why: "",
    },
    Target {
        says: "beside a runaway cell, a neighbour's p99 stays under twice what it is alone",
        check: Check::TailAgainst(
            ("runaway", "a neighbour's `return 1`, beside the loop"),
            ("runaway", "a neighbour's `return 1`, alone"),
            2.0,
        ),
        why: "the loop has one of the cores, and the scheduler lets it keep that for a slice of some 3 ms when the neighbour's thread wakes up there",
    },
];

const TRIVIAL: Name = ("cells", "fresh VM, `return 1+1`");

/// Compares what was measured with every target.
pub(super) fn verdicts(ours: &Side, peers: &[Side]) -> Vec<Verdict> {
    let verdict = |target: &Target| Verdict {
        says: target.says,
        why: target.why,
        found: found(&target.check, ours, peers),
    };
    TARGETS.iter().map(verdict).collect()
}

fn found(check: &Check, ours: &Side, peers: &[Side]) -> Option<(String, bool)> {
    let row = |(group, what): Name| ours.row(group, what);
    let with_unit = |number: f64, row: &Row| format!("{} {}", shown(number), row.unit);
    match *check {
        Check::AtMost(name, part, limit) => {
            let row = row(name)?;
            let number = part.of(row)?;
            Some((with_unit(number, row), number <= limit))
        }
        Check::AtLeast(name, limit) => {
            let row = row(name)?;
            Some((with_unit(row.p50, row), row.p50 >= limit))
        }
        Check::TailAgainst(name, other, limit) => {
            against(Part::Tail.of(row(name)?)?, Part::Tail.of(row(other)?)?, limit)
        }
        Check::MedianAgainst(name, other, limit) => against(row(name)?.p50, row(other)?.p50, limit),
        Check::NoSlower(group, peer) => {
            let peer = peers.iter().find(|side| side.name == peer)?;
            let rows = ours.rows.iter().filter(|row| row.group == group);
            let costs = rows.filter_map(|row| Some((row.cost_against(peer.same(row)?)?, row)));
            let (cost, worst) = costs.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
            Some((
                format!("at worst {} times ({})", shown(cost), worst.what),
                cost <= 1.0,
            ))
        }
    }
}

fn against(number: f64, other: f64, limit: f64) -> Option<(String, bool)> {
    let ratio = number / other;
    ratio
        .is_finite()
        .then(|| (format!("{} times", shown(ratio)), ratio <= limit))
}

impl Part {
    fn of(self, row: &Row) -> Option<f64> {
        match self {
            Part::Median => Some(row.p50),
            Part::Tail => row.p99,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Name = ("g", "a");
    const B: Name = ("g", "b");

    fn side(name: &'static str, a: (f64, f64), b: (f64, f64)) -> Side {
        let row = |what, (p50, p99)| Row {
            p99: Some(p99),
            ..Row::number("g", what, "µs", p50)
        };
        let mut side = Side::new(name);
        side.keep_best(vec![row("a", a), row("b", b)]);
        side
    }

    #[test]
    fn each_kind_of_target_is_met_or_missed() {
        let ours = side("ours", (10.0, 20.0), (5.0, 40.0));
        let peers = [side(QUICKJS, (20.0, 20.0), (4.0, 40.0))];
        for (check, expected) in [
            (Check::AtMost(A, Part::Median, 10.0), ("10.0 µs", true)),
            (Check::AtMost(A, Part::Tail, 19.0), ("20.0 µs", false)),
            (Check::AtLeast(A, 10.0), ("10.0 µs", true)),
            (Check::AtLeast(A, 11.0), ("10.0 µs", false)),
            (Check::TailAgainst(B, A, 2.0), ("2.00 times", true)),
            (Check::MedianAgainst(A, B, 1.9), ("2.00 times", false)),
            (Check::NoSlower("g", QUICKJS), ("at worst 1.25 times (b)", false)),
        ] {
            let (said, met) = found(&check, &ours, &peers).unwrap();
            assert_eq!((said.as_str(), met), expected);
        }
    }

    #[test]
    fn what_was_not_measured_is_neither_met_nor_missed() {
        let ours = side("ours", (10.0, 20.0), (0.0, 0.0));
        for check in [
            Check::AtMost(("g", "c"), Part::Median, 1.0),
            Check::AtLeast(("h", "a"), 1.0),
            Check::MedianAgainst(A, B, 1.0),
            Check::NoSlower("g", QUICKJS),
        ] {
            assert_eq!(found(&check, &ours, &[]), None);
        }
    }

    #[test]
    fn targets_are_about_groups_that_are_measured() {
        let groups: Vec<_> = crate::bench::groups().collect();
        for target in TARGETS {
            let named = match target.check {
                Check::AtMost((group, _), ..) | Check::AtLeast((group, _), _) | Check::NoSlower(group, _) => {
                    vec![group]
                }
                Check::TailAgainst((one, _), (other, _), _)
                | Check::MedianAgainst((one, _), (other, _), _) => {
                    vec![one, other]
                }
            };
            assert!(
                named.iter().all(|group| groups.contains(group)),
                "{}",
                target.says
            );
        }
    }
}
