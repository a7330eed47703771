//! Servers that are slow, mad, or die: each may cost only itself.

use std::{
    collections::HashSet,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::{
    Steps,
    room::{Room, expect_equal, expect_status},
};
use crate::process;

/// A first answer that waited for no unwell server: far below the 30 s such a server is given.
const PROMPT: Duration = Duration::from_secs(8);

/// Milliseconds that the unhurried server takes to start.
const LATE_MS: &str = "4000";

/// Longest that a command over dozens of servers may take.
const RECORDED_LIMIT: Duration = Duration::from_secs(180);

pub(super) fn play(steps: &mut Steps) {
    steps.play(
        "servers that hang, rave or never start cost only themselves",
        unwell,
    );
    steps.play(
        "either era of the protocol is understood behind the gateway",
        eras,
    );
    steps.play(
        "a server that crashes during a call is named, and comes back",
        crash,
    );
    steps.play("a server that is killed between two calls comes back", killed);
    steps.play("a known catalog is there before its server is", stale_start);
}

fn unwell(room: &Room) -> Result<()> {
    let mut servers = Map::new();
    for (name, health) in [
        ("good", "good"),
        ("noisy", "noisy"),
        ("silent", "silent"),
        ("garbage", "garbage"),
        ("exits", "exits"),
    ] {
        servers.insert(
            name.into(),
            room.probe(&format!("{name}.log"), &["--health", health])?,
        );
    }
    servers.insert("missing".into(), room.server("no-such-program-anywhere", &[]));
    servers.insert("unset".into(), json!({ "command": "${CODECELL_E2E_UNSET}" }));
    let config = room.config(&json!(true), &Value::Object(servers))?;
    let started = Instant::now();
    let mut door = room.door(&config)?;
    ensure!(door.tools()? == ["exec", "wait"], "other tools");
    let value = door.value(
        "return [(await MCP.good.echoValue({ value: 1 })).structuredContent.value, (await MCP.noisy.echoValue({ value: 2 })).structuredContent.value]",
    )?;
    let took = started.elapsed();
    expect_equal(&value, &json!([1, 2]))?;
    ensure!(took < PROMPT, "the first answer took {took:?}");
    for (name, reason) in [("exits", "exited"), ("missing", "no-such-program-anywhere")] {
        let failed = door.exec(&format!("return await MCP.{name}.echoValue({{ value: 1 }})"))?;
        expect_status(&failed, "failed")?;
        let error = failed["error"].as_str().unwrap_or_default();
        ensure!(
            error.contains(name) && error.contains(reason),
            "the error says neither the server nor why it has no tools: {error}"
        );
    }
    door.close()?;
    // Each unwell server is given little time here, so that the report does not wait for the default.
    let text = fs::read_to_string(room.files().join("codecell.json5"))?;
    let mut document: Value = serde_json::from_str(text.split_once('\n').map_or("", |(_, rest)| rest))?;
    for (_, entry) in document["mcp"]["servers"].as_object_mut().context("no servers")? {
        entry["startupTimeoutMs"] = json!(1500);
    }
    let path = room.file("impatient.json5", &document.to_string())?;
    let report = room.run(["doctor", "--config", &path.display().to_string()], "")?;
    ensure!(
        report.code == Some(1),
        "`doctor` finds nothing wrong: {:?}",
        report.code
    );
    for words in [
        "good",
        "noisy",
        "silent",
        "garbage",
        "exits",
        "missing",
        "told not to start",
        "CODECELL_E2E_UNSET",
    ] {
        ensure!(
            report.stdout.contains(words),
            "`doctor` does not say `{words}`:\n{}\n{}",
            report.stdout,
            report.stderr
        );
    }
    Ok(())
}

fn eras(room: &Room) -> Result<()> {
    let mut servers = Map::new();
    for era in ["legacy", "modern", "dual"] {
        servers.insert(
            era.into(),
            room.probe(&format!("{era}.log"), &["--era", era, "--page", "3"])?,
        );
    }
    let mut door = room.door(&room.config(&json!(true), &Value::Object(servers))?)?;
    let value = door.value(
        "const all = await Promise.all(['legacy', 'modern', 'dual'].map(name => MCP[name].manyBytes({ bytes: 4 }))); \
         return all.map(r => [r.content[0].text, Object.keys(r).sort().join()])",
    )?;
    expect_equal(
        &value,
        &json!([["xxxx", "content"], ["xxxx", "content"], ["xxxx", "content"]]),
    )?;
    door.close()
}

fn crash(room: &Room) -> Result<()> {
    let config = room.config(
        &json!(true),
        &json!({ "frail": room.probe("frail.log", &[])?, "good": room.probe("good.log", &[])? }),
    )?;
    let mut door = room.door(&config)?;
    let value = door.value(
        "const other = MCP.good.slowValue({ ms: 300, value: 'unharmed' }); \
         let message; try { await MCP.frail.crashServer({}) } catch (e) { message = e.message } \
         return [message, (await other).structuredContent.value]",
    )?;
    let message = value[0]
        .as_str()
        .context("a call to a crashing server succeeded")?;
    ensure!(
        message.contains("frail"),
        "the error does not name the server: {message}"
    );
    expect_equal(&value[1], &json!("unharmed"))?;
    let crashes = room
        .events("frail.log")
        .iter()
        .filter(|event| event["tool"] == "crash_server")
        .count();
    ensure!(crashes == 1, "a call in doubt was sent {crashes} times");
    comes_back(&mut door, "frail")?;
    door.close()
}

fn killed(room: &Room) -> Result<()> {
    let mut door =
        room.door(&room.config(&json!(true), &json!({ "frail": room.probe("frail.log", &[])? }))?)?;
    comes_back(&mut door, "frail")?;
    let started = room.event("frail.log", "the server's start", |event| {
        event["event"] == "started"
    })?;
    process::kill(
        started["pid"]
            .as_u64()
            .and_then(|pid| u32::try_from(pid).ok())
            .context("no process id")?,
    )?;
    comes_back(&mut door, "frail")?;
    door.close()
}

/// A server is restarted with a pause that grows, so the first tries may still fail.
fn comes_back(door: &mut super::room::Door, server: &str) -> Result<()> {
    let code = format!("return (await MCP.{server}.echoValue({{ value: 'back' }})).structuredContent.value");
    let end = Instant::now() + super::room::LIMIT;
    loop {
        let result = door.exec(&code)?;
        let result = door.settle(result)?;
        if result["value"] == "back" {
            return Ok(());
        }
        ensure!(Instant::now() < end, "`{server}` did not come back: {result}");
        // The gateway's clock paces the tries.
        door.value("await new Promise(wake => setTimeout(wake, 200)); return 1")?;
    }
}

fn stale_start(room: &Room) -> Result<()> {
    let entry = |arguments: &[&str]| -> Result<Value> { room.probe("late.log", arguments) };
    let late = room.config(&json!(true), &json!({ "late": entry(&["--delay", LATE_MS])? }))?;
    let mut first = room.door(&late)?;
    comes_back(&mut first, "late")?;
    first.close()?;
    let started = Instant::now();
    let mut second = room.door(&late)?;
    let found = second.value("return [(await MCP.$search('echo value'))[0].path, (await API.read('mcp/late.d.ts')).includes('echoValue')]")?;
    let took = started.elapsed();
    expect_equal(&found, &json!(["MCP.late.echoValue", true]))?;
    ensure!(
        took < Duration::from_millis(3_500),
        "a cached catalog took {took:?}"
    );
    // A call waits for the server that is still connecting.
    comes_back(&mut second, "late")?;
    second.close()
}

/// Drives every recorded server of a folder at once, without installing any.
pub(super) fn play_recorded(steps: &mut Steps, folder: &Path) {
    steps.play(
        &format!("all recorded servers of `{}` at once", folder.display()),
        |room| all_recorded(room, folder),
    );
}

fn all_recorded(room: &Room, folder: &Path) -> Result<()> {
    let dumps = recorded(folder)?;
    let config = room.config(&json!(true), &serve_recorded(room, &dumps)?)?;
    let run = |arguments: &[&str]| {
        let all = arguments
            .iter()
            .map(|a| (*a).to_owned())
            .chain(config.iter().cloned());
        process::run(&mut room.codecell(all), "", RECORDED_LIMIT)
    };
    let listed = run(&["tools", "--json"])?;
    let listed: Value = serde_json::from_str(&listed.stdout)
        .with_context(|| format!("no JSON; standard error: {}", listed.stderr))?;
    let report = run(&["doctor"])?;
    ensure!(
        report.code == Some(0) && dumps.iter().all(|(name, _)| report.stdout.contains(name)),
        "`doctor` ended with {:?}:\n{}\n{}",
        report.code,
        report.stdout,
        report.stderr
    );
    let entries: HashSet<&str> = listed
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry["id"].as_str())
        .collect();
    for (server, path) in &dumps {
        let dump: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
        for tool in dump["tools"].as_array().into_iter().flatten() {
            let name = tool["name"].as_str().unwrap_or_default();
            // A tool that nobody could call may be left out, but not in silence.
            ensure!(
                entries.contains(format!("mcp:{server}:{name}").as_str())
                    || report.stdout.contains(&format!("left out: {name}")),
                "`{name}` of `{server}` is neither catalogued nor said to be left out"
            );
        }
    }
    let mut door = room.door(&config)?;
    let result = door.exec(
        "const found = await MCP.$search('create an issue'); return [Object.keys(MCP).length, found.length]",
    )?;
    expect_equal(&result["telemetry"]["sources"]["mcp"], &json!(entries.len()))?;
    door.close()
}

/// The recorded servers of a folder, as name and path.
pub(super) fn recorded(folder: &Path) -> Result<Vec<(String, std::path::PathBuf)>> {
    let mut dumps = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading `{}`", folder.display()))? {
        let path = entry?.path();
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let is_dump = serde_json::from_str::<Value>(&text)
            .is_ok_and(|dump| dump["tools"].is_array() && dump["initialize"].is_object());
        if let Some(name) = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .filter(|_| is_dump)
        {
            dumps.push((name.to_owned(), path));
        }
    }
    dumps.sort();
    ensure!(
        !dumps.is_empty(),
        "`{}` holds no recorded server",
        folder.display()
    );
    Ok(dumps)
}

/// Configuration entries that replay the dumps.
pub(super) fn serve_recorded(room: &Room, dumps: &[(String, std::path::PathBuf)]) -> Result<Value> {
    let mut servers = Map::new();
    for (name, path) in dumps {
        servers.insert(
            name.clone(),
            room.probe(
                "recorded.log",
                &[path.to_str().context("a path that is no text")?],
            )?,
        );
    }
    Ok(Value::Object(servers))
}
