//! Where somebody else is ahead, and why as far as we know.

use super::{
    peers::{MONTY, QUICKJS},
    rows::{Row, Side},
};

/// A row in which a peer costs less.
#[derive(Debug, PartialEq)]
pub(super) struct Loss<'r> {
    pub(super) row: &'r Row,
    pub(super) peer: &'static str,
    pub(super) theirs: &'r Row,
    pub(super) cost: f64,
    pub(super) why: &'static str,
}

/// Why rows of a group, or all whose name contains some words, cost more than a peer's.
struct Reason {
    group: &'static str,
    words: &'static str,
    peer: &'static str,
    why: &'static str,
}

const REASONS: &[Reason] = &[
    Reason {
        group: "cells",
        words: "`later`",
        peer: QUICKJS,
        why: "its tools run in the thread that measures; ours are tasks of their own, and each answer wakes a sleeping core",
    },
    Reason {
        group: "images",
        words: "10 MiB of text",
        peer: QUICKJS,
        why: "we look through all pages and compress them; it copies the memory into an image nearly two hundred times as large",
    },
    Reason {
        group: "cpu",
        words: "",
        peer: QUICKJS,
        why: "an equal engine in WebAssembly: V8's compiler against Cranelift, which also looks for the deadline in every loop and function",
    },
    Reason {
        group: "images",
        words: "image of",
        peer: MONTY,
        why: "it writes down the interpreter's values; we write down the pages that the engine has touched",
    },
    Reason {
        group: "images",
        words: "suspended small cells",
        peer: MONTY,
        why: "its images of small cells are smaller",
    },
    Reason {
        group: "images",
        words: "10 MiB of text",
        peer: MONTY,
        why: "we look through all pages and compress them; it writes everything as it is, into a larger image",
    },
    Reason {
        group: "cpu",
        words: "json",
        peer: MONTY,
        why: "its `json` is native code; ours is compiled to WebAssembly",
    },
    Reason {
        group: "cpu",
        words: "",
        peer: MONTY,
        why: "it is native code; ours is compiled to WebAssembly",
    },
    Reason {
        group: "cells",
        words: "fresh VM",
        peer: MONTY,
        why: "it starts an empty interpreter in a process that is there already",
    },
];

/// The rows in which a peer costs less than we do, in the order of the tables.
pub(super) fn losses<'r>(ours: &'r Side, peers: &'r [Side]) -> Vec<Loss<'r>> {
    let lost = |row: &'r Row, peer: &'r Side| {
        let theirs = peer.same(row)?;
        let cost = row.cost_against(theirs)?;
        (cost > 1.0).then(|| Loss {
            row,
            peer: peer.name,
            theirs,
            cost,
            why: why(row, peer.name),
        })
    };
    let rows = ours.rows.iter();
    rows.flat_map(|row| peers.iter().filter_map(move |peer| lost(row, peer)))
        .collect()
}

fn why(row: &Row, peer: &str) -> &'static str {
    let about = |reason: &&Reason| {
        reason.group == row.group && reason.peer == peer && row.what.contains(reason.words)
    };
    REASONS.iter().find(about).map_or("", |reason| reason.why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_a_row_that_costs_more_or_does_less() {
        let row = |what: &str, unit: &str, p50| Row::number("cpu", what, unit, p50);
        let side = |name, rows| {
            let mut side = Side::new(name);
            side.keep_best(rows);
            side
        };
        let ours = side(
            "ours",
            vec![
                row("fib", "µs", 3.0),
                row("json", "µs", 2.0),
                row("rate", "cells/s", 3.0),
                row("own", "µs", 9.0),
            ],
        );
        let peers = [
            side(QUICKJS, vec![row("fib", "µs", 2.0), row("json", "µs", 2.0)]),
            side("another", vec![row("rate", "cells/s", 6.0)]),
        ];
        let found: Vec<_> = losses(&ours, &peers)
            .into_iter()
            .map(|loss| (loss.row.what.as_str(), loss.peer, loss.cost, !loss.why.is_empty()))
            .collect();
        assert_eq!(
            found,
            [("fib", QUICKJS, 1.5, true), ("rate", "another", 2.0, false)]
        );
    }

    #[test]
    fn the_nearest_reason_comes_first() {
        let row = Row::number("cpu", "json", "µs", 1.0);
        assert!(why(&row, MONTY).contains("`json`"));
        let row = Row::number("cpu", "fib", "µs", 1.0);
        assert!(!why(&row, MONTY).contains("`json`"));
    }
}
