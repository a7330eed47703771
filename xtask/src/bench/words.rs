//! What the report says beside its numbers.

use super::peers::{MONTY, QUICKJS, WORKERS};

pub(super) const OPENING: &str = "\
Written by `cargo xtask bench`: change the command, not this file. `cargo xtask bench GROUP` measures one group and
writes nothing; `--json` prints the same as JSON.

Read ratios, not microseconds of somebody else's machine. What both sides of a ratio have in common, such as a slow or
busy machine, it does not show.
";

pub(super) const METHOD: &str = "\
Release builds. Every row begins with runs that do not count, an eighth as many as those that do; then come 400, fewer
where one takes milliseconds and more where a tail is wanted. The table has the median (p50) and the 99th percentile
(p99) of each row. All sides of a group are measured one right after the other, so that a machine that slows down does
so for all of them; the whole is done in rounds, and of each row the round with the best median counts. *ours ÷ theirs*
compares what a row costs, with rates turned round: below 1 we are ahead.
";

/// What a group is about: its name, its heading and what has to be known.
pub(super) const GROUPS: &[(&str, &str, &str)] = &[
    (
        "cells",
        "Cells that run to their end",
        "\
The library, from the submitted text to the result: the program is checked, runs in a fresh VM, and its calls go
through catalog, schema, policy and record. `tool_1` answers at once, `later` when the scheduler comes round to it.
",
    ),
    (
        "typescript",
        "TypeScript",
        "\
The transform alone, and whole cells.
",
    ),
    (
        "cpu",
        "Programs that only compute",
        "\
Whole cells, VM included; the programs are in `crates/codecell/examples/bench/programs`.
",
    ),
    (
        "images",
        "Cells that wait",
        "\
*exec and suspend* is a whole `exec` of a program that yields, *restore and resume* the whole `wait` that ends it. The
image is what is kept meanwhile, and *suspended small cells* is by how much the process grows.
",
    ),
    (
        "catalogs",
        "Many tools",
        "\
Each of the four words of the query that count is in an eighth of all descriptions.
",
    ),
    (
        "start",
        "Process start",
        "\
`codecell mcp` without configuration, from the start of the process to the answer.
",
    ),
    (
        "stdio",
        "MCP over stdio",
        "\
A warm `codecell mcp`; the time of the measuring client, which is a thread away from its pipe, is in it. A `ping`
crosses the same pipes and runs nothing.
",
    ),
    (
        "http",
        "MCP over HTTP",
        "\
`/mcp` of `codecell serve`; each client has a session and a connection that it keeps, and sends its next cell when the
last one has been answered. The clients share the cores with the server.
",
    ),
    (
        "runaway",
        "A program that does not end",
        "\
Over HTTP, with a limit of 100 ms. The neighbour is another session of the same process.
",
    ),
];

/// How each peer is driven.
pub(super) const PEERS: &[(&str, &str)] = &[
    (
        QUICKJS,
        "\
the engine alone on Node: VMs in the thread that measures, one compiled module for all, 64 MiB and a
deadline for each. It has no catalog, no policy and no record; programs that call tools get a prelude of twelve lines, others none.",
    ),
    (
        WORKERS,
        "\
the same engine as a host drives it that must not block: a worker for every leg of
a cell, tools on the main thread, an image when a cell has to wait, a fresh worker to go on. Ending a worker is not
counted. What happens inside the engine is the same, so there are no rows for computing.",
    ),
    (
        MONTY,
        "\
an interpreter of Python, so its programs are the same ones written in Python, and check
their values. A cell is a fresh session in a warm worker process, with 64 MiB and a deadline; calls are host functions of the measuring process, and
those that are made at once are suspensions that it answers together. It has no catalog, no policy and no record.",
    ),
];
