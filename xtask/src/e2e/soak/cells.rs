//! Programs, and what must come of them.

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};

use super::dice::Dice;

/// A program with what must come of it.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) program: Value,
    pub(super) due: Due,
}

/// What must come of a program.
#[derive(Debug, Clone)]
pub(super) enum Due {
    /// It completes with this value.
    Value(Value),
    /// It fails with this code, and says so.
    Fails(&'static str, &'static str),
    /// It calls a server that things happen to: it completes with this value, or with what it caught.
    Perhaps(Value),
}

/// How a program met what was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All is well.
    Right,
    /// A fault was met, and told as it must be.
    Hit,
}

/// What a call may be told of a server that things happen to.
const TOLD: [&str; 5] = [
    "unavailable",
    "in_doubt",
    "timed_out",
    "upstream_error",
    "bad_result",
];

impl Due {
    /// Compares a settled result.
    pub(super) fn judge(&self, result: &Value) -> Result<Verdict> {
        let status = result["status"].as_str().unwrap_or_default();
        match self {
            Due::Value(value) => {
                ensure!(
                    status == "completed" && result["value"] == *value,
                    "expected {value}, got {result}"
                );
                Ok(Verdict::Right)
            }
            Due::Fails(code, says) => {
                let error = result["error"].as_str().unwrap_or_default();
                ensure!(
                    status == "failed" && result["code"] == *code && error.contains(says),
                    "expected `{code}` with `{says}`, got {result}"
                );
                Ok(Verdict::Right)
            }
            Due::Perhaps(value) => {
                ensure!(
                    status == "completed",
                    "expected {value} or an error, got {result}"
                );
                let got = &result["value"];
                if got == value {
                    return Ok(Verdict::Right);
                }
                let code = got["code"].as_str().unwrap_or_default();
                if !TOLD.contains(&code) {
                    bail!("expected {value} or a typed error, got {result}");
                }
                Ok(Verdict::Hit)
            }
        }
    }
}

/// Servers that always answer right, as programs know them.
const STEADY: [&str; 3] = ["steadyPipe", "steadyWeb", "probe"];

/// Servers that things happen to.
const SHAKY: [&str; 2] = ["shakyPipe", "shakyWeb"];

fn javascript(code: impl Into<String>, due: Due) -> Cell {
    Cell {
        program: json!({ "code": code.into() }),
        due,
    }
}

fn typescript(code: impl Into<String>, due: Due) -> Cell {
    Cell {
        program: json!({ "code": code.into(), "language": "typescript" }),
        due,
    }
}

/// One that returns at once.
pub(super) fn trivial(number: u64) -> Cell {
    javascript(format!("return {number}"), Due::Value(json!(number)))
}

/// One that completes, in one of the many ways there are.
pub(super) fn sound(dice: &mut Dice, number: u64) -> Cell {
    let server = dice.pick(STEADY);
    let kinds: [fn(&str, u64) -> Cell; 6] = [
        |_, number| trivial(number),
        |server, number| {
            javascript(
                format!(
                    "return (await MCP.{server}.echoValue({{ value: {number} }})).structuredContent.value"
                ),
                Due::Value(json!(number)),
            )
        },
        |server, number| {
            javascript(
                format!(
                    "const all = await Promise.all(Array.from({{ length: 50 }}, (_, i) => \
                     MCP.{server}.echoValue({{ value: {number} + i }}))); \
                     return all.reduce((sum, one) => sum + one.structuredContent.value, 0)"
                ),
                Due::Value(json!(50 * number + 1225)),
            )
        },
        |_, number| {
            typescript(
                format!("enum Kind {{ It = {number} }} const it: Kind = Kind.It; return it as number"),
                Due::Value(json!(number)),
            )
        },
        |server, number| {
            javascript(
                format!(
                    "const [hit] = await MCP.$search('count calls', {{ limit: 1 }}); \
                     const api = await MCP.{server}.$api('echo_value', {{ schema: true }}); \
                     return [{number}, typeof hit.path, JSON.stringify(api).includes('echo')]"
                ),
                Due::Value(json!([number, "string", true])),
            )
        },
        |server, number| {
            javascript(
                format!(
                    "const text = await API.read('mcp/{server}.d.ts'); \
                     return [{number}, text.includes('echoValue')]"
                ),
                Due::Value(json!([number, true])),
            )
        },
    ];
    dice.pick(kinds)(server, number)
}

/// One that is suspended once, with or without a call on its way.
pub(super) fn suspended(dice: &mut Dice, number: u64) -> Cell {
    let server = dice.pick(["steadyPipe", "steadyWeb"]);
    let code = if dice.percent(50) {
        format!(
            "const kept = {{ number: {number} }}; text('half way'); await yield_control('look'); return kept.number"
        )
    } else {
        format!(
            "const call = MCP.{server}.slowValue({{ ms: 300, value: {number} }}); await yield_control('look'); \
             return (await call).structuredContent.value"
        )
    };
    javascript(code, Due::Value(json!(number)))
}

/// One that fails as it must.
pub(super) fn wrong(dice: &mut Dice) -> Cell {
    let kinds: [fn() -> Cell; 5] = [
        || {
            typescript(
                "const broken: = 1; return broken",
                Due::Fails("invalid_input", "1:"),
            )
        },
        || javascript("import fs from 'fs'", Due::Fails("invalid_input", "import")),
        || {
            javascript(
                "return 'x'.repeat(200_000)",
                Due::Fails("output_limit_exceeded", ""),
            )
        },
        || {
            javascript(
                "const thrown = new Error('on purpose');\nthrow thrown",
                Due::Fails("internal_error", "on purpose"),
            )
        },
        || javascript("await new Promise(() => {})", Due::Fails("internal_error", "")),
    ];
    dice.pick(kinds)()
}

/// One that eats memory until there is none left.
pub(super) fn hog() -> Cell {
    javascript(
        "const all = []; for (;;) { try { all.push(new Uint8Array(1 << 20).fill(1)) } catch {} }",
        Due::Fails("internal_error", "memory limit exceeded"),
    )
}

/// One that never ends. It needs a short time limit.
pub(super) fn runaway() -> Cell {
    javascript(
        "for (;;) { try { for (;;) {} } catch {} }",
        Due::Fails("timeout", ""),
    )
}

/// One that calls a server that things happen to, and catches what it is told.
pub(super) fn shaken(dice: &mut Dice, number: u64) -> Cell {
    let server = dice.pick(SHAKY);
    let tool = dice.pick(["echoValue", "echoValue", "countCall"]);
    javascript(
        format!(
            "try {{ return (await MCP.{server}.{tool}({{ value: {number} }})).structuredContent.value }} \
             catch (error) {{ return {{ code: error.code, message: error.message }} }}"
        ),
        Due::Perhaps(json!(number)),
    )
}

/// One that must get an answer of this server.
pub(super) fn answered(server: &str, number: u64) -> Cell {
    javascript(
        format!("return (await MCP.{server}.countCall({{ value: {number} }})).structuredContent.value"),
        Due::Value(json!(number)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_right_hit_or_wrong() {
        let perhaps = Due::Perhaps(json!(7));
        let fails = Due::Fails("timeout", "ms");
        let completed = |value: Value| json!({ "status": "completed", "value": value });
        for (due, result, expected) in [
            (&perhaps, completed(json!(7)), Some(Verdict::Right)),
            (
                &perhaps,
                completed(json!({ "code": "in_doubt" })),
                Some(Verdict::Hit),
            ),
            (&perhaps, completed(json!({ "code": "internal" })), None),
            (&perhaps, completed(json!(8)), None),
            (&perhaps, json!({ "status": "failed" }), None),
            (&Due::Value(json!(7)), completed(json!(7)), Some(Verdict::Right)),
            (
                &Due::Value(json!(7)),
                completed(json!({ "code": "in_doubt" })),
                None,
            ),
            (
                &fails,
                json!({ "status": "failed", "code": "timeout", "error": "300 ms" }),
                Some(Verdict::Right),
            ),
            (
                &fails,
                json!({ "status": "failed", "code": "aborted", "error": "300 ms" }),
                None,
            ),
            (&fails, completed(json!(7)), None),
        ] {
            assert_eq!(due.judge(&result).ok(), expected, "{due:?}: {result}");
        }
    }
}
