//! Three real servers behind one gateway.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::tools::{Tools, text};
use crate::{
    e2e::{
        Steps,
        room::{Door, LIMIT, Room, expect_equal, expect_status},
    },
    process,
};

pub(super) fn play(steps: &mut Steps, tools: &Tools) {
    steps.play("real: one cell joins three servers", |room| one_cell(room, tools));
    steps.play("real: a long operation suspends a cell", |room| {
        suspension(room, tools)
    });
    steps.play("real: a cancelled call leaves the gateway at work", |room| {
        cancellation(room, tools)
    });
    steps.play("real: a killed child comes back", |room| {
        killed_child(room, tools)
    });
    steps.play("real: tools, doctor and decls over the three servers", |room| {
        inspection(room, tools)
    });
}

/// A repository with one commit, and the three servers that look at it.
fn workspace(room: &Room, tools: &Tools) -> Result<(PathBuf, Value)> {
    let folder = room.files().join("workspace");
    std::fs::create_dir(&folder)?;
    std::fs::write(folder.join("notes.txt"), "first line\nsecond line\n")?;
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "notes.txt"],
        &[
            "-c",
            "user.name=E2E",
            "-c",
            "user.email=e2e@example.org",
            "commit",
            "--quiet",
            "-m",
            "Add the notes",
        ],
    ] {
        let finished = process::run(
            room.program("git").args(arguments).current_dir(&folder),
            "",
            LIMIT,
        )?;
        ensure!(finished.code == Some(0), "git {arguments:?}: {}", finished.stderr);
    }
    let (node, everything, filesystem) = (
        tools.node(),
        tools.script("mcp-server-everything"),
        tools.script("mcp-server-filesystem"),
    );
    let servers = json!({
        "everything": room.server(text(&node)?, &[text(&everything)?, "stdio"]),
        "filesystem": room.server(text(&node)?, &[text(&filesystem)?, text(&folder)?]),
        "git": room.server(text(&tools.python_script("mcp-server-git"))?, &["--repository", text(&folder)?]),
    });
    Ok((folder, servers))
}

fn open(room: &Room, tools: &Tools, code_mode: Value) -> Result<(PathBuf, Door)> {
    let (folder, servers) = workspace(room, tools)?;
    let mut door = room.door(&room.config(&code_mode, &servers)?)?;
    ensure!(
        door.tools()? == ["exec", "wait"],
        "other tools than exec and wait"
    );
    ready(&mut door)?;
    Ok((folder, door))
}

/// Waits until all three servers have answered: cold starts take longer than a cell may wait.
fn ready(door: &mut Door) -> Result<()> {
    let end = std::time::Instant::now() + LIMIT;
    while door.value("return [typeof MCP.everything, typeof MCP.filesystem, typeof MCP.git].join()")?
        != "object,object,object"
    {
        ensure!(
            std::time::Instant::now() < end,
            "the servers did not get ready; standard error:\n{}",
            door.client.stderr()
        );
        door.value("await new Promise(wake => setTimeout(wake, 200)); return 1")?;
    }
    Ok(())
}

fn one_cell(room: &Room, tools: &Tools) -> Result<()> {
    let (folder, mut door) = open(room, tools, json!(true))?;
    let folder = json!(text(&folder)?);
    let program = format!(
        r#"
        const repo: string = {folder};
        const paths: string[] = (await MCP.$search("commit log of a repository")).map((found) => found.path);
        const declared: string = await API.read("mcp/git.d.ts");
        const [sum, weather, notes, log] = await Promise.all([
          MCP.everything.getSum({{ a: 2, b: 40 }}),
          MCP.everything.getStructuredContent({{ location: "Chicago" }}),
          MCP.filesystem.readTextFile({{ path: repo + "/notes.txt" }}),
          MCP.git.gitLog({{ repo_path: repo, max_count: 5 }}),
        ]);
        await MCP.filesystem.writeFile({{ path: repo + "/sum.txt", content: sum.content[0].text }});
        const status = await MCP.git.gitStatus({{ repo_path: repo }});
        let refused = "";
        try {{
          const result = await MCP.filesystem.readTextFile({{ path: "/etc/hostname" }});
          refused = result.isError ? "error result" : "read";
        }} catch (error) {{
          refused = "thrown";
        }}
        return {{
          found: paths.includes("MCP.git.gitLog"),
          declared: declared.includes("gitLog"),
          sum: sum.content[0].text.includes("42"),
          weather: typeof weather.structuredContent.temperature,
          lines: notes.structuredContent.content.trim().split("\n").length,
          logged: JSON.stringify(log.content).includes("Add the notes"),
          untracked: JSON.stringify(status.content).includes("sum.txt"),
          refused: refused !== "read",
        }};
        "#
    );
    let result = door.exec_typescript(&program)?;
    let result = door.settle(result)?;
    expect_status(&result, "completed")?;
    let expected = json!({
        "found": true, "declared": true, "sum": true, "weather": "number", "lines": 2, "logged": true, "untracked": true, "refused": true
    });
    expect_equal(&result["value"], &expected)?;
    ensure!(
        result.to_string().len() < 4_000,
        "a result that is not small: {} bytes",
        result.to_string().len()
    );
    door.close()
}

fn suspension(room: &Room, tools: &Tools) -> Result<()> {
    let (_, mut door) = open(room, tools, json!({ "enabled": true, "timeoutMs": 1000 }))?;
    let first = door.exec(
        "const before = new Map([['sum', (await MCP.everything.getSum({ a: 1, b: 1 })).content[0].text]]); \
         const long = await MCP.everything.triggerLongRunningOperation({ duration: 3, steps: 3 }); \
         return [before.get('sum').includes('2'), long.content[0].text.includes('completed')]",
    )?;
    expect_status(&first, "waiting")?;
    expect_equal(&first["reason"], &json!("pending_tools"))?;
    let last = door.settle(first)?;
    expect_status(&last, "completed")?;
    expect_equal(&last["value"], &json!([true, true]))?;
    door.close()
}

fn cancellation(room: &Room, tools: &Tools) -> Result<()> {
    let (_, mut door) = open(room, tools, json!(true))?;
    let code =
        "return (await MCP.everything.triggerLongRunningOperation({ duration: 300, steps: 3000 })).content";
    let call = json!({ "name": "exec", "arguments": { "code": code }, "_meta": { "progressToken": 1 } });
    let id = door.client.send("tools/call", call)?;
    // Progress proves that the call is under way.
    door.client.notification("notifications/progress")?;
    door.client
        .notify("notifications/cancelled", json!({ "requestId": id }))?;
    let value = door.value("return (await MCP.everything.getSum({ a: 20, b: 1 })).content[0].text")?;
    ensure!(value.as_str().is_some_and(|text| text.contains("21")), "{value}");
    door.close()
}

fn killed_child(room: &Room, tools: &Tools) -> Result<()> {
    let (_, mut door) = open(room, tools, json!(true))?;
    let code = "return (await MCP.everything.echo({ message: 'back' })).content[0].text";
    door.value(code)?;
    let victim = process::marked(room.marker())
        .into_iter()
        .find(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
                let line = String::from_utf8_lossy(&line).into_owned();
                line.contains("mcp-server-everything") && *pid != door.client.pid()
            })
        })
        .context("the server's process was not found")?;
    process::kill(victim)?;
    let end = std::time::Instant::now() + LIMIT;
    loop {
        let result = door.exec(code)?;
        let result = door.settle(result)?;
        if result["value"].as_str().is_some_and(|text| text.contains("back")) {
            break;
        }
        ensure!(
            result["error"]
                .as_str()
                .is_some_and(|error| error.contains("everything")),
            "the error does not name the server: {result}"
        );
        ensure!(
            std::time::Instant::now() < end,
            "the server did not come back: {result}"
        );
        door.value("await new Promise(wake => setTimeout(wake, 200)); return 1")?;
    }
    door.close()
}

fn inspection(room: &Room, tools: &Tools) -> Result<()> {
    let (_, servers) = workspace(room, tools)?;
    let config = room.config(&json!(true), &servers)?;
    for (arguments, words) in [
        (&["tools", "commit"][..], "gitCommit"),
        (&["doctor"], "filesystem"),
        (&["decls", "everything"], "getSum"),
    ] {
        let mut command: Command = room.codecell(
            arguments
                .iter()
                .map(|a| (*a).to_owned())
                .chain(config.iter().cloned()),
        );
        let finished = process::run(&mut command, "", LIMIT)?;
        ensure!(
            finished.code == Some(0),
            "{arguments:?} ended with {:?}: {}",
            finished.code,
            finished.stderr
        );
        ensure!(
            finished.stdout.contains(words),
            "{arguments:?} does not show `{words}`:\n{}",
            finished.stdout
        );
    }
    Ok(())
}
