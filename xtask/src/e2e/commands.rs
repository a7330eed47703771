//! The command line: `exec` in all its forms, and the commands that only look.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Steps,
    room::{Room, expect_code, expect_equal, expect_status},
};

/// Exit codes of `codecell exec`.
const COMPLETED: Option<i32> = Some(0);
const FAILED: Option<i32> = Some(1);
const WAITING: Option<i32> = Some(2);
const USAGE: Option<i32> = Some(64);

pub(super) fn play(steps: &mut Steps) {
    steps.play(
        "exec runs the program it is given, from every source",
        program_sources,
    );
    steps.play("exec refuses what cannot run, and says why", refusals);
    steps.play("exec suspends with exit code 2, and --wait goes on", suspension);
    steps.play("exec without a usable command line ends with 64", usage);
    steps.play("tools, decls and doctor show a server from outside", inspection);
    steps.play("doctor names configuration problems by file and path", problems);
    steps.play("demo plays without set-up, without colour into a pipe", demo);
}

fn completed(room: &Room, arguments: &[&str], input: &str, value: Value) -> Result<()> {
    let (code, result) = room.exec(arguments, input)?;
    ensure!(code == COMPLETED, "exit code {code:?} with {result}");
    expect_status(&result, "completed")?;
    expect_equal(&result["value"], &value)
}

fn program_sources(room: &Room) -> Result<()> {
    let script = room.file("cell.js", "return [1, 2, 3].map(x => x * 2);\n")?;
    let typed = "const x: number = 20; interface A { a: number }; return { a: x + 1 } satisfies A;";
    let typed_file = room.file("cell.ts", typed)?;
    let (script, typed_file) = (script.display().to_string(), typed_file.display().to_string());
    completed(room, &["--code", "return 1+1"], "", json!(2))?;
    completed(
        room,
        &[],
        "return 'from standard input'",
        json!("from standard input"),
    )?;
    completed(room, &["-"], "return 'asked for'", json!("asked for"))?;
    completed(room, &[&script], "", json!([2, 4, 6]))?;
    completed(
        room,
        &["--language", "typescript", "--code", typed],
        "",
        json!({ "a": 21 }),
    )?;
    completed(
        room,
        &["--language", "typescript", &typed_file],
        "",
        json!({ "a": 21 }),
    )?;
    completed(
        room,
        &["--language", "javascript", "--code", "return typeof process"],
        "",
        json!("undefined"),
    )
}

fn refusals(room: &Room) -> Result<()> {
    for (program, code, words) in [
        (
            "throw new RangeError('too far')",
            "internal_error",
            &["RangeError", "too far", "cell:1:"][..],
        ),
        ("const a = 1;\nretur a", "invalid_input", &["2:"]),
        ("import fs from 'fs'; return 1", "invalid_input", &["import"]),
        (
            "const fs = require('fs'); return 1",
            "invalid_input",
            &["require"],
        ),
        ("ls -la && pwd", "invalid_input", &["shell"]),
        ("await new Promise(() => {})", "internal_error", &[]),
        ("   ", "invalid_input", &[]),
    ] {
        let (exit, result) = room.exec(&["--code", program], "")?;
        ensure!(exit == FAILED, "`{program}` ended with {exit:?}: {result}");
        expect_code(&result, code).with_context(|| format!("`{program}`"))?;
        let error = result["error"].as_str().unwrap_or_default();
        for word in words {
            ensure!(
                error.contains(word),
                "the error of `{program}` does not say `{word}`: {error}"
            );
        }
    }
    let (exit, result) = room.exec(&["no-such-file.js"], "")?;
    ensure!(exit == FAILED, "a missing file ended with {exit:?}: {result}");
    expect_code(&result, "invalid_input")
}

fn suspension(room: &Room) -> Result<()> {
    let program = "text('before'); await yield_control('pause'); text('after'); return 7";
    let (exit, result) = room.exec(&["--code", program], "")?;
    ensure!(exit == WAITING, "exit code {exit:?}: {result}");
    expect_status(&result, "waiting")?;
    ensure!(
        result["reason"] == "yield" && result["runId"].is_string(),
        "{result}"
    );
    completed(room, &["--wait", "--code", program], "", json!(7))
}

fn usage(room: &Room) -> Result<()> {
    for arguments in [
        &["exec", "--nonsense"][..],
        &["exec", "--language", "python", "--code", "1"],
        &["nonsense"],
        &["exec", "--code", "return 1", "a-file-as-well.js"],
    ] {
        let finished = room.run(arguments, "")?;
        ensure!(
            finished.code == USAGE,
            "{arguments:?} ended with {:?}",
            finished.code
        );
        ensure!(
            finished.stdout.is_empty(),
            "{arguments:?} wrote to standard output: {}",
            finished.stdout
        );
        ensure!(!finished.stderr.trim().is_empty(), "{arguments:?} said nothing");
    }
    for arguments in [&["--help"][..], &["exec", "--help"], &["--version"]] {
        let finished = room.run(arguments, "")?;
        ensure!(
            finished.code == COMPLETED && !finished.stdout.is_empty(),
            "{arguments:?} ended with {:?}",
            finished.code
        );
    }
    Ok(())
}

fn inspection(room: &Room) -> Result<()> {
    let config = room.config(&json!(true), &json!({ "probe": room.probe("probe.log", &[])? }))?;
    let run = |arguments: &[&str]| -> Result<String> {
        let all = arguments
            .iter()
            .map(|a| (*a).to_owned())
            .chain(config.iter().cloned());
        let finished = room.run(all, "")?;
        ensure!(
            finished.code == COMPLETED,
            "{arguments:?} ended with {:?}: {}{}",
            finished.code,
            finished.stdout,
            finished.stderr
        );
        Ok(finished.stdout)
    };
    let listed: Value =
        serde_json::from_str(&run(&["tools", "--json"])?).context("`tools --json` is not JSON")?;
    let entries = listed.as_array().context("`tools --json` is no array")?;
    let echo = entries
        .iter()
        .find(|entry| entry["id"] == "mcp:probe:echo_value")
        .context("`tools --json` misses the probe's tool")?;
    expect_equal(&echo["path"], &json!("MCP.probe.echoValue"))?;
    let found: Value = serde_json::from_str(&run(&["tools", "counter", "--json"])?)?;
    expect_equal(&found[0]["name"], &json!("bump_counter"))?;
    ensure!(
        run(&["tools"])?.contains("echo"),
        "`tools` does not list the probe"
    );
    ensure!(
        run(&["decls", "probe"])?.contains("echoValue"),
        "`decls probe` does not declare the probe's tool"
    );
    let everything = run(&["decls"])?;
    ensure!(
        everything.contains("probe") && everything.contains("echoValue"),
        "`decls` does not declare the probe"
    );
    let report = run(&["doctor"])?;
    ensure!(
        report.contains("probe") && report.to_lowercase().contains("token"),
        "`doctor` says neither server nor tokens: {report}"
    );
    Ok(())
}

fn problems(room: &Room) -> Result<()> {
    let path = room.file(
        "broken.json5",
        r#"{ tools: { codeMode: { enabled: true, timeoutMs: "soon", colour: "red" } }, mcp: { servers: { a: { command: "${CODECELL_E2E_UNSET}" } } } }"#,
    )?;
    let path = path.display().to_string();
    let finished = room.run(["doctor", "--config", &path], "")?;
    let report = format!("{}{}", finished.stdout, finished.stderr);
    for words in [
        "broken.json5",
        "tools.codeMode.timeoutMs",
        "tools.codeMode.colour",
        "CODECELL_E2E_UNSET",
    ] {
        ensure!(
            report.contains(words),
            "`doctor` does not say `{words}`:\n{report}"
        );
    }
    Ok(())
}

fn demo(room: &Room) -> Result<()> {
    let finished = room.run(["demo"], "")?;
    ensure!(
        finished.code == COMPLETED,
        "demo ended with {:?}: {}{}",
        finished.code,
        finished.stdout,
        finished.stderr
    );
    ensure!(!finished.stdout.contains('\u{1b}'), "demo colours a pipe");
    for words in ["exec", "wait", "token"] {
        ensure!(
            finished.stdout.to_lowercase().contains(words),
            "demo does not mention `{words}`:\n{}",
            finished.stdout
        );
    }
    Ok(())
}
