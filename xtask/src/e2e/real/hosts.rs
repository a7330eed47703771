//! Agent hosts that nobody here wrote, with the scripted model in the place of a hosted one.
//!
//! A host reads the gateway's tools as an MCP client, offers them to its model in its own spelling, and carries the
//! model's calls back. Nothing leaves this machine: what is not loopback is sent to a port where nobody listens.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::tools::{npm, text};
use crate::{
    e2e::{
        Steps,
        room::{LIMIT, Room, calls, expect_equal},
    },
    model::{Api, Call, Model, Reply, Seen, Turn},
    process, workspace,
};

/// Where nothing listens.
const NOWHERE: &str = "http://127.0.0.1:9";

/// A host: the package it comes in, the program in it, and what it speaks to its model.
struct Host {
    name: &'static str,
    package: &'static str,
    program: &'static str,
    api: Api,
    command: fn(&Room, &Model, &str) -> Result<Command>,
}

const HOSTS: [Host; 2] = [
    Host {
        name: "Codex CLI",
        package: "@openai/codex@0.171.0",
        program: "codex",
        api: Api::Responses,
        command: codex,
    },
    Host {
        name: "Claude Code",
        package: "@anthropic-ai/claude-code@2.1.332",
        program: "claude",
        api: Api::Messages,
        command: claude,
    },
];

/// Installs each host and plays with it. One that cannot be installed is named and left out.
pub(super) fn play(steps: &mut Steps) -> Result<()> {
    let folder = workspace::target_dir()?.join("e2e-hosts");
    for host in &HOSTS {
        let name = format!("hosts: {} executes and waits", host.name);
        if !steps.wants(&name) {
            continue;
        }
        match install(&folder.join(host.program), host) {
            Ok(program) => steps.play(&name, |room| drive(room, host, text(&program)?)),
            Err(error) => println!("skip  {name}: {} cannot be installed: {error:#}", host.package),
        }
    }
    Ok(())
}

fn install(folder: &std::path::Path, host: &Host) -> Result<PathBuf> {
    let program = folder.join("node_modules/.bin").join(host.program);
    let stamp = folder.join("installed");
    if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == host.package) {
        println!("installing {}", host.package);
        npm(folder, &[host.package], |_| {})?;
        let version = process::run(Command::new(&program).arg("--version"), "", LIMIT)?;
        ensure!(
            version.code == Some(0),
            "`{} --version` ended with {:?}: {}",
            host.program,
            version.code,
            version.stderr
        );
        fs::write(&stamp, host.package)?;
    }
    Ok(program)
}

/// What the model has the host run: half before the suspension, half after it.
const CELL: &str = "const { value } = (await MCP.probe.echoValue({ value: 41 })).structuredContent; \
                    await yield_control('look'); return value + 1";

fn drive(room: &Room, host: &Host, program: &str) -> Result<()> {
    let model = Model::start(host.api)?;
    // Hosts ask for more than the turn: for a title, or whether there is anybody at all.
    model.otherwise(|seen| {
        if seen.tool("exec").is_err() {
            return Ok(Reply::text("A title"));
        }
        Ok(match seen.results.as_slice() {
            [] => call(seen, "exec", json!({ "code": CELL }))?,
            [first] => call(
                seen,
                "wait",
                json!({ "runId": result(&first.text, "waiting")?["runId"] }),
            )?,
            [_, second, ..] => Reply::text(format!(
                "the answer is {}",
                result(&second.text, "completed")?["value"]
            )),
        })
    });
    let mut command = (host.command)(room, &model, program)?;
    command
        .env("HTTP_PROXY", NOWHERE)
        .env("HTTPS_PROXY", NOWHERE)
        .env("NO_PROXY", "127.0.0.1,localhost");
    let finished = process::run(&mut command, "", LIMIT)?;
    let seen = model.finish()?;
    ensure!(
        finished.code == Some(0) && finished.stdout.contains("the answer is 42"),
        "{} ended with {:?} after {} requests:\n{}\n{}",
        host.name,
        finished.code,
        seen.len(),
        finished.stdout,
        finished.stderr
    );
    let turns: Vec<&Seen> = seen.iter().filter(|seen| seen.tool("exec").is_ok()).collect();
    let told: Vec<usize> = turns.iter().map(|seen| seen.results.len()).collect();
    expect_equal(&json!(told), &json!([0, 1, 2]))?;
    let asked = turns.first().context("no request")?;
    let exec = asked.tool("exec")?;
    ensure!(
        exec.description.contains("call `wait` with its `runId`")
            && exec.schema["properties"]["code"].is_object(),
        "exec arrived as {exec:?}"
    );
    asked.tool("wait")?;
    ensure!(
        asked.tool("echo_value").is_err() && !asked.prompt().contains("Returns the value it was given."),
        "the model reads of a hidden tool"
    );
    expect_equal(&json!(calls(room, "probe.log", "echo_value")), &json!(1))
}

/// A call of an offered tool, spelled as the host offers it.
fn call(seen: &Seen, name: &str, arguments: Value) -> Result<Reply> {
    let tool = seen.tool(name)?;
    let mut call = Call::new(&tool.name, arguments);
    call.namespace.clone_from(&tool.namespace);
    Ok(Reply::Turn(Turn::calls([call])))
}

/// The cell's result, wherever in its text the host puts it.
fn result(text: &str, status: &str) -> Result<Value> {
    let starts = text.match_indices('{').filter_map(|(start, _)| text.get(start..));
    starts
        .filter_map(|rest| {
            serde_json::Deserializer::from_str(rest)
                .into_iter::<Value>()
                .next()?
                .ok()
        })
        .find(|value| value["status"] == status)
        .with_context(|| format!("no result of a cell that is `{status}` in: {text}"))
}

/// Arguments of the gateway behind which the probe is.
fn gateway(room: &Room) -> Result<Vec<String>> {
    let mut arguments = vec!["mcp".to_owned()];
    arguments.extend(room.config(&json!(true), &json!({ "probe": room.probe("probe.log", &[])? }))?);
    Ok(arguments)
}

fn codex(room: &Room, model: &Model, program: &str) -> Result<Command> {
    let home = room.files().join("codex-home");
    fs::create_dir(&home)?;
    // JSON strings and lists of them are TOML as well.
    let config = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\napproval_policy = \"never\"\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = {}\nwire_api = \"responses\"\n\
         [mcp_servers.gateway]\ncommand = {}\nargs = {}\ndefault_tools_approval_mode = \"approve\"\n",
        json!(model.base_url()),
        json!(room.binary()),
        json!(gateway(room)?),
    );
    fs::write(home.join("config.toml"), config)?;
    let mut command = room.program(program);
    command.env("CODEX_HOME", home).args([
        "exec",
        "--skip-git-repo-check",
        "--json",
        "-s",
        "read-only",
        "Go.",
    ]);
    Ok(command)
}

fn claude(room: &Room, model: &Model, program: &str) -> Result<Command> {
    let server = json!({ "command": room.binary(), "args": gateway(room)? });
    let servers = room.file(
        "hosts.json",
        &json!({ "mcpServers": { "gateway": server } }).to_string(),
    )?;
    let mut command = room.program(program);
    for (variable, value) in [
        ("ANTHROPIC_BASE_URL", model.base_url().as_str()),
        ("ANTHROPIC_API_KEY", "not-a-key"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // Else the tools may come after the first request, or behind a search of the host's own.
        ("MCP_CONNECTION_NONBLOCKING", "false"),
        ("ENABLE_TOOL_SEARCH", "false"),
    ] {
        command.env(variable, value);
    }
    command
        .args([
            "-p",
            "Go.",
            "--mcp-config",
            text(&servers)?,
            "--strict-mcp-config",
        ])
        .args([
            "--allowedTools",
            "mcp__gateway__exec,mcp__gateway__wait",
            "--output-format",
            "json",
        ]);
    Ok(command)
}
