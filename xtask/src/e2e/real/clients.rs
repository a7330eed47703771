//! Clients that nobody here wrote, in front of the gateway.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::tools::{Tools, text};
use crate::{
    e2e::{
        Steps,
        room::{Door, LIMIT, Room, expect_equal},
    },
    mcp::{LEGACY, MODERN},
    process, workspace,
};

pub(super) fn play(steps: &mut Steps, tools: &Tools) {
    for era in ["legacy", "modern"] {
        steps.play(
            &format!("real: the Inspector lists and calls, {era} era"),
            |room| inspector(room, tools, era),
        );
    }
    let newest = LEGACY.last().copied().unwrap_or_default();
    for (mode, protocol) in [("legacy", newest), ("auto", MODERN), (MODERN, MODERN)] {
        steps.play(
            &format!("real: the Python SDK executes and waits, mode {mode}"),
            |room| python(room, tools, mode, protocol),
        );
    }
}

/// The gateway's command line, with the probe behind it.
fn gateway(room: &Room) -> Result<Vec<String>> {
    let config = room.config(&json!(true), &json!({ "probe": room.probe("probe.log", &[])? }))?;
    let mut command = vec![text(room.binary())?.to_owned(), "mcp".to_owned()];
    command.extend(config);
    Ok(command)
}

fn inspector(room: &Room, tools: &Tools, era: &str) -> Result<()> {
    let gateway = gateway(room)?;
    let (program, arguments) = gateway.split_first().context("no command")?;
    // In a file, because the Inspector takes the gateway's `--config` for its own.
    let session = json!({ "mcpServers": { "gateway": { "command": program, "args": arguments } } });
    let session = room.file("inspector.json", &session.to_string())?;
    let inspect = |arguments: &[&str]| -> Result<Value> {
        let mut command = room.program(tools.node());
        tools.with_node(&mut command);
        command
            .arg(tools.script("mcp-inspector"))
            .args(["--cli", "--config", text(&session)?, "--server", "gateway"])
            .args(["--protocol-era", era, "--format", "json"])
            .args(arguments);
        let finished = process::run(&mut command, "", LIMIT)?;
        ensure!(
            finished.code == Some(0),
            "the Inspector ended with {:?}: {}{}",
            finished.code,
            finished.stdout,
            finished.stderr
        );
        let mut report: Value = serde_json::from_str(&finished.stdout)
            .with_context(|| format!("no JSON: {}", finished.stdout))?;
        Ok(report["result"].take())
    };
    let listed = inspect(&["--method", "tools/list", "--strict"])?;
    let names: Vec<&Value> = listed["tools"]
        .as_array()
        .context("no tools")?
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    ensure!(names == ["exec", "wait"], "tools: {names:?}");
    let program =
        "const x: number = (await MCP.probe.echoValue({ value: 41 })).structuredContent.value; return x + 1";
    let arguments = json!({ "code": program, "language": "typescript" }).to_string();
    let answer = inspect(&[
        "--method",
        "tools/call",
        "--tool-name",
        "exec",
        "--tool-args-json",
        &arguments,
    ])?;
    let result = Door::result(answer)?;
    expect_equal(&result["status"], &json!("completed"))?;
    expect_equal(&result["value"], &json!(42))
}

fn python(room: &Room, tools: &Tools, mode: &str, protocol: &str) -> Result<()> {
    let cell = "const { value } = (await MCP.probe.echoValue({ value: 'kept' })).structuredContent; await yield_control('look'); return value";
    let mut command = room.program(tools.python());
    command
        .arg(workspace::root().join("e2e/clients/sdk_client.py"))
        .args([mode, cell, "--"])
        .args(gateway(room)?);
    let finished = process::run(&mut command, "", LIMIT)?;
    ensure!(
        finished.code == Some(0),
        "the client ended with {:?}:\n{}",
        finished.code,
        finished.stderr
    );
    let report: Value = serde_json::from_str(finished.stdout.trim())
        .with_context(|| format!("no JSON: {}", finished.stdout))?;
    expect_equal(&report["protocol"], &json!(protocol))?;
    expect_equal(&report["tools"], &json!(["exec", "wait"]))?;
    expect_equal(&report["suspended"]["status"], &json!("waiting"))?;
    expect_equal(&report["finished"]["value"], &json!("kept"))?;
    expect_equal(&report["refused"]["code"], &json!("invalid_input"))?;
    expect_equal(&report["isError"], &json!([false, false, true]))
}
