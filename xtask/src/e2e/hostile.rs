//! Programs that want to hurt the process, and what must become of them.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Steps,
    room::{Room, expect_code, expect_status},
};

/// Time limit of the cells here, in milliseconds.
const TIMEOUT_MS: u64 = 1_000;

/// What a process may take beside the cell: start, compile cache, load of the machine.
const OVERHEAD: Duration = Duration::from_secs(8);

/// How a program may end.
enum End {
    /// Fails with this code, and the error says these words.
    Fails(&'static str, &'static str),
    /// Returns one of these values.
    Returns(&'static [&'static str]),
    /// Returns one of these values, or fails with one of these codes.
    Either(&'static [&'static str], &'static [&'static str]),
}

/// Names of the errors that deep nesting may end in.
const DEEP: &[&str] = &["RangeError", "SyntaxError"];

const PROGRAMS: &[(&str, &str, End)] = &[
    (
        "an endless loop",
        "while (true) {}",
        End::Fails("timeout", "1000"),
    ),
    (
        "an endless loop that hides",
        "try { while (true) {} } catch {} finally { return 'escaped' }",
        End::Fails("timeout", ""),
    ),
    (
        "a flood of microtasks",
        "(async () => { for (;;) await null })(); await new Promise(() => {})",
        End::Fails("timeout", ""),
    ),
    (
        "a catastrophic regular expression",
        "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
        End::Fails("timeout", ""),
    ),
    (
        "a long chain of prototypes",
        "let o = {}; for (let i = 0; i < 1e5; i++) { const p = {}; Object.setPrototypeOf(p, o); o = p } return o.missing === undefined",
        End::Either(&["true", "RangeError"], &["timeout"]),
    ),
    (
        "an array that grows for ever",
        "let a = []; for (;;) a.push(new Array(1e5).fill(1))",
        End::Fails("internal_error", "memory limit exceeded (67108864 bytes)"),
    ),
    (
        "an exhausted heap that is caught",
        "let a = []; try { for (;;) a.push(new Array(1e5).fill(1)) } catch { return 'caught' }",
        End::Fails("internal_error", "memory limit exceeded"),
    ),
    (
        "a string that doubles",
        "let s = 'x'; for (;;) s += s",
        End::Either(&[], &["internal_error", "timeout"]),
    ),
    (
        "endless recursion",
        "function f() { return f() } try { f() } catch (e) { return e.name }",
        End::Returns(&["RangeError"]),
    ),
    (
        "endless recursion, then work",
        "function f() { return f() } try { f() } catch {} return 'fine'",
        End::Returns(&["fine"]),
    ),
    (
        "deeply nested JSON",
        "try { JSON.parse('['.repeat(1e5)) } catch (e) { return e.name }",
        End::Returns(DEEP),
    ),
    (
        "a getter that refers to itself",
        "const p = new Proxy({}, { get: (t, k, r) => r[k] }); try { return p.x } catch (e) { return e.name }",
        End::Returns(&["RangeError"]),
    ),
    (
        "a replacement that recurses",
        "const f = s => s.replace(/x/, f); try { f('x'); return 'ended' } catch (e) { return e.name }",
        End::Returns(&["RangeError"]),
    ),
    (
        "a value nested without end",
        "let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; return a",
        End::Either(&[], &["internal_error", "output_limit_exceeded"]),
    ),
    (
        "a value that contains itself",
        "const a = {}; a.a = a; return a",
        End::Either(&[], &["internal_error"]),
    ),
    (
        "a value past the output budget",
        "return 'x'.repeat(1024 * 1024)",
        End::Fails("output_limit_exceeded", ""),
    ),
    (
        "a value that fills the memory",
        "return 'x'.repeat(20 * 1024 * 1024)",
        End::Either(&[], &["output_limit_exceeded", "internal_error"]),
    ),
    (
        "a way out through constructors",
        "return typeof this?.constructor?.constructor?.('return process')",
        End::Either(&["undefined", "function"], &["internal_error"]),
    ),
    (
        "tampering with what JSON is made of",
        "JSON.stringify = () => 'forged'; Object.prototype.toJSON = () => 'forged'; Array.prototype.map = null; return { a: [1] }.a[0] === 1 ? 'true' : ''",
        End::Returns(&["true"]),
    ),
];

pub(super) fn play(steps: &mut Steps) {
    for (name, program, end) in PROGRAMS {
        steps.play(&format!("hostile: {name}"), |room| one(room, program, end));
    }
    steps.play("hostile: 5,000 nested parentheses", |room| nested(room, "(", ")"));
    steps.play("hostile: 5,000 nested arrays", |room| nested(room, "[", "]"));
    steps.play("hostile: one gateway survives them all", survivor);
}

fn config(room: &Room) -> Result<Vec<String>> {
    room.config(&json!({ "enabled": true, "timeoutMs": TIMEOUT_MS }), &json!({}))
}

fn one(room: &Room, program: &str, end: &End) -> Result<()> {
    let mut arguments = config(room)?;
    arguments.splice(0..0, ["exec".into(), "--code".into(), program.into()]);
    let finished = room.run(&arguments, "")?;
    let result: Value = serde_json::from_str(finished.stdout.trim())
        .with_context(|| format!("no result, exit code {:?}: {}", finished.code, finished.stderr))?;
    let limit = Duration::from_millis(TIMEOUT_MS) + OVERHEAD;
    ensure!(
        finished.took < limit,
        "took {:?}, the limit with all overhead is {limit:?}",
        finished.took
    );
    check(&result, end)
}

fn check(result: &Value, end: &End) -> Result<()> {
    let value = match &result["value"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let returned = |values: &[&str]| result["status"] == "completed" && values.contains(&value.as_str());
    match end {
        End::Fails(code, words) => {
            expect_code(result, code)?;
            let error = result["error"].as_str().unwrap_or_default();
            ensure!(error.contains(words), "the error does not say `{words}`: {error}");
        }
        End::Returns(values) => ensure!(returned(values), "expected one of {values:?}: {result}"),
        End::Either(values, codes) => {
            let failed = result["status"] == "failed" && codes.iter().any(|code| result["code"] == *code);
            ensure!(
                failed || returned(values),
                "expected one of {values:?} or a failure out of {codes:?}: {result}"
            );
        }
    }
    Ok(())
}

/// Deep nesting in the source itself is a parser's problem, on both sides of the wall.
fn nested(room: &Room, open: &str, close: &str) -> Result<()> {
    let program = format!("return {}1{}", open.repeat(5_000), close.repeat(5_000));
    for language in ["javascript", "typescript"] {
        let (_, result) = room.exec(&["--language", language, "-"], &program)?;
        ensure!(
            result["status"] == "completed"
                || ["invalid_input", "internal_error", "output_limit_exceeded"]
                    .iter()
                    .any(|code| result["code"] == *code),
            "{language}: {result}"
        );
    }
    let inside = format!(
        "try {{ return typeof eval('{}1{}') }} catch (e) {{ return e.name }}",
        open.repeat(5_000),
        close.repeat(5_000)
    );
    let (_, result) = room.exec(&["-"], &inside)?;
    check(
        &result,
        &End::Either(
            &[
                "number",
                "object",
                "RangeError",
                "SyntaxError",
                "EvalError",
                "ReferenceError",
                "TypeError",
            ],
            &["internal_error"],
        ),
    )
}

fn survivor(room: &Room) -> Result<()> {
    let mut door = room.door(&config(room)?)?;
    for (name, program, end) in PROGRAMS {
        check(&door.exec(program)?, end).with_context(|| (*name).to_owned())?;
        let after = door.exec("return 'alive'")?;
        expect_status(&after, "completed").with_context(|| format!("after {name}"))?;
    }
    door.close()
}
