//! What a run goes through: suspension, `wait`, cancellation, progress, a promise to be repeatable, and its record.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Steps,
    room::{Door, Room, calls, expect_code, expect_equal, expect_status},
};
use crate::process;

/// Longest a process may need to notice that the gateway has gone.
const GONE: Duration = Duration::from_secs(5);

pub(super) fn play(steps: &mut Steps) {
    steps.play("a yield suspends a cell with everything it holds", yields);
    steps.play(
        "a slow call suspends a cell, and its result is not lost",
        slow_call,
    );
    steps.play("a timer survives a suspension", timers);
    steps.play("a run is resumed once, and only by who may", refusals);
    steps.play("of many waits at once exactly one wins", racing_waits);
    steps.play("suspended runs expire", expiry);
    steps.play("at most 64 runs are suspended", cap);
    steps.play("cancellation reaches the server behind the gateway", cancellation);
    steps.play("progress is reported while a cell runs", progress);
    steps.play("a killed gateway takes its servers along", killed_gateway);
    steps.play(
        "a restart-safe cell is stopped before a side effect, and says it can be repeated",
        restart_safe,
    );
    steps.play("a trajectory keeps nested calls under their cell", trajectory);
}

fn door(room: &Room, code_mode: Value) -> Result<Door> {
    room.door(&room.config(&code_mode, &json!({ "probe": room.probe("probe.log", &[])? }))?)
}

fn yields(room: &Room) -> Result<()> {
    let mut door = door(room, json!(true))?;
    let first = door.exec(
        "function* numbers() { let n = 0; for (;;) yield n++ } \
         const held = { map: new Map([['a', 1]]), next: numbers(), re: /x/g, big: 2n ** 70n, list: [1, [2]] }; \
         held.next.next(); held.self = held; \
         text('before'); await yield_control('look'); text('after'); \
         return [held.map.get('a'), held.next.next().value, held.re.flags, held.big === 2n ** 70n, held.self.list[1][0]]",
    )?;
    expect_status(&first, "waiting")?;
    expect_equal(&first["reason"], &json!("yield"))?;
    expect_equal(&first["output"], &json!([{ "type": "text", "text": "before" }]))?;
    let second = door.wait(&first["runId"])?;
    expect_status(&second, "completed")?;
    expect_equal(&second["value"], &json!([1, 1, "g", true, 2]))?;
    expect_equal(&second["output"], &json!([{ "type": "text", "text": "after" }]))?;
    door.close()
}

fn slow_call(room: &Room) -> Result<()> {
    let mut door = door(room, json!({ "enabled": true, "timeoutMs": 300 }))?;
    let first = door.exec(
        "const [a, b] = await Promise.all([MCP.probe.bumpCounter({ key: 'k' }), MCP.probe.slowValue({ ms: 1500, value: 'late' })]); \
         return [a.structuredContent.count, b.structuredContent.value]",
    )?;
    expect_status(&first, "waiting")?;
    expect_equal(&first["reason"], &json!("pending_tools"))?;
    let pending = first["pendingToolCalls"]
        .as_array()
        .context("nothing is pending")?;
    ensure!(
        pending.len() == 1
            && pending.iter().all(|call| call["tool"]
                .as_str()
                .is_some_and(|tool| tool.contains("slowValue"))),
        "{first}"
    );
    let last = door.settle(first)?;
    expect_status(&last, "completed")?;
    expect_equal(&last["value"], &json!([1, "late"]))?;
    let calls = room
        .events("probe.log")
        .iter()
        .filter(|event| event["event"] == "call")
        .count();
    ensure!(calls == 2, "the server saw {calls} calls");
    door.close()
}

fn timers(room: &Room) -> Result<()> {
    let mut door = door(room, json!({ "enabled": true, "timeoutMs": 200 }))?;
    let first = door.exec("await new Promise(wake => setTimeout(wake, 700)); return 'woken'")?;
    expect_status(&first, "waiting")?;
    expect_equal(&first["reason"], &json!("pending_tools"))?;
    expect_equal(&first["pendingToolCalls"][0]["method"], &json!("timer"))?;
    expect_equal(&door.settle(first)?["value"], &json!("woken"))?;
    let unawaited = door.exec("setTimeout(() => text('never'), 60000); return 'done'")?;
    expect_status(&unawaited, "completed")?;
    door.close()
}

fn refusals(room: &Room) -> Result<()> {
    let mut door = door(room, json!(true))?;
    let first = door.exec("await yield_control(); await yield_control(); return 'end'")?;
    expect_status(&first, "waiting")?;
    let run = &first["runId"];
    // Another process is another session, whatever it knows.
    let mut stranger = room.door(&room.config(&json!(true), &json!({}))?)?;
    expect_code(&stranger.wait(run)?, "invalid_input")?;
    stranger.close()?;
    let second = door.wait(run)?;
    expect_status(&second, "waiting")?;
    expect_equal(&second["runId"], run)?;
    expect_equal(&door.wait(run)?["value"], &json!("end"))?;
    let again = door.wait(run)?;
    expect_code(&again, "invalid_input")?;
    ensure!(
        again["error"]
            .as_str()
            .is_some_and(|error| error.contains("expired") || error.contains("unknown")),
        "{again}"
    );
    door.close()
}

fn racing_waits(room: &Room) -> Result<()> {
    let mut door = door(room, json!(true))?;
    let first = door.exec("await yield_control(); return (await MCP.probe.bumpCounter({ key: 'once' })).structuredContent.count")?;
    let arguments = json!({ "name": "wait", "arguments": { "runId": first["runId"] } });
    let ids: Vec<u64> = (0..20)
        .map(|_| door.client.send("tools/call", arguments.clone()))
        .collect::<Result<_>>()?;
    let mut won = 0;
    for id in ids {
        let result = Door::result(door.client.answer(id)?)?;
        if result["status"] == "completed" {
            won += 1;
            expect_equal(&result["value"], &json!(1))?;
        } else {
            expect_code(&result, "invalid_input")?;
        }
    }
    ensure!(won == 1, "{won} of 20 waits resumed the run");
    door.close()
}

fn expiry(room: &Room) -> Result<()> {
    let mut door = door(room, json!({ "enabled": true, "snapshotTtlSeconds": 1 }))?;
    let first = door.exec("await yield_control(); return 1")?;
    expect_status(&first, "waiting")?;
    // The clock that matters is the gateway's own: a cell of it tells when the time is over.
    door.value("await new Promise(wake => setTimeout(wake, 1300)); return 1")?;
    let late = door.wait(&first["runId"])?;
    expect_code(&late, "invalid_input")?;
    door.close()
}

fn cap(room: &Room) -> Result<()> {
    let mut door = door(room, json!(true))?;
    let mut runs = Vec::new();
    for _ in 0..64 {
        let result = door.exec("await yield_control(); return 'kept'")?;
        expect_status(&result, "waiting")?;
        runs.push(result["runId"].clone());
    }
    let refused = door.exec("await yield_control(); return 1")?;
    expect_code(&refused, "invalid_input")?;
    let error = refused["error"].as_str().unwrap_or_default();
    ensure!(error.starts_with("too many suspended code mode runs."), "{error}");
    for run in &runs {
        expect_equal(&door.wait(run)?["value"], &json!("kept"))?;
    }
    expect_status(&door.exec("await yield_control(); return 1")?, "waiting")?;
    door.close()
}

fn cancellation(room: &Room) -> Result<()> {
    let mut door = door(room, json!(true))?;
    let code = "return (await MCP.probe.slowValue({ ms: 600000, value: 1 })).structuredContent.value";
    let id = door.client.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": code } }),
    )?;
    let call = room.event("probe.log", "the nested call", |event| event["event"] == "call")?;
    door.client.notify(
        "notifications/cancelled",
        json!({ "requestId": id, "reason": "changed my mind" }),
    )?;
    let cancelled = room.event("probe.log", "the cancellation behind the gateway", |event| {
        event["event"] == "cancelled"
    })?;
    expect_equal(&cancelled["id"], &call["id"])?;
    ensure!(
        door.value("return 'still here'")? == "still here",
        "the gateway no longer answers"
    );
    door.close()
}

fn progress(room: &Room) -> Result<()> {
    let mut door = door(room, json!(true))?;
    let code = "return (await MCP.probe.reportProgress({ steps: 100 })).structuredContent.steps";
    let id = door.client.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": code }, "_meta": { "progressToken": "token-1" } }),
    )?;
    let mut last = -1.0;
    for _ in 0..2 {
        let note = door.client.notification("notifications/progress")?;
        expect_equal(&note["progressToken"], &json!("token-1"))?;
        let reached = note["progress"].as_f64().context("progress without a number")?;
        ensure!(reached > last, "progress went from {last} to {reached}");
        last = reached;
    }
    let result = Door::result(door.client.answer(id)?)?;
    expect_equal(&result["value"], &json!(100))?;
    door.close()
}

fn killed_gateway(room: &Room) -> Result<()> {
    let mut door = door(room, json!(true))?;
    door.value("return (await MCP.probe.echoValue({ value: 1 })).structuredContent.value")?;
    let started = room.event("probe.log", "the server's start", |event| {
        event["event"] == "started"
    })?;
    let server = started["pid"]
        .as_u64()
        .and_then(|pid| u32::try_from(pid).ok())
        .context("no process id")?;
    ensure!(
        process::marked(room.marker()).contains(&server),
        "the server is not where it should be"
    );
    process::kill(door.client.pid())?;
    process::until(GONE, "the end of the server of a killed gateway", || {
        (!process::marked(room.marker()).contains(&server)).then_some(())
    })
}

fn restart_safe(room: &Room) -> Result<()> {
    room.file("here.txt", "here\n")?;
    let mut door = room.door(&room.configuration(&json!({
        "tools": { "fs": { "roots": [{ "path": ".", "writable": true }] } },
        "mcp": { "servers": { "probe": room.probe("probe.log", &[])? } },
    }))?)?;
    for effect in [
        "MCP.probe.bumpCounter({ key: 'a' })",
        "MCP.probe.echoValue({ value: 1 })",
        "tools.callValue('mcp:probe:bump_counter', { key: 'a' })",
        "tools.write({ path: 'made.txt', text: 'x' })",
        "Promise.all([tools.read({ path: 'here.txt' }), tools.write({ path: 'made.txt', text: 'x' })])",
    ] {
        let caught = format!("try {{ return await {effect} }} catch {{ return 'caught' }}");
        let result = door.exec_restart_safe(&caught)?;
        expect_code(&result, "invalid_input").with_context(|| effect.to_owned())?;
        let error = result["error"].as_str().unwrap_or_default();
        ensure!(
            error.contains("restart-safe code mode cannot call"),
            "{effect}: {error}"
        );
    }
    let first = door.exec_restart_safe("const { text: first } = await tools.read({ path: 'here.txt' }); return first + (await tools.ls({})).entries.length")?;
    expect_status(&first, "waiting")?;
    expect_equal(&first["replaySafe"], &json!(true))?;
    let mut last = first;
    while last["status"] == "waiting" {
        expect_equal(&last["replaySafe"], &json!(true))?;
        last = door.wait(&last["runId"].clone())?;
    }
    expect_status(&last, "completed")?;
    ensure!(
        last["value"]
            .as_str()
            .is_some_and(|value| value.starts_with("here\n")),
        "{last}"
    );
    let ordinary = door.exec("await yield_control(); return 1")?;
    ensure!(
        ordinary.get("replaySafe").is_none_or(|safe| safe == false),
        "{ordinary}"
    );
    door.close()?;
    for tool in ["bump_counter", "echo_value"] {
        ensure!(
            calls(room, "probe.log", tool) == 0,
            "a restart-safe cell reached `{tool}`"
        );
    }
    ensure!(
        !room.files().join("made.txt").exists(),
        "a restart-safe cell wrote"
    );
    Ok(())
}

fn trajectory(room: &Room) -> Result<()> {
    let file = room.files().join("trajectory.jsonl");
    let mut probe = room.probe("probe.log", &[])?;
    probe["directOnly"] = json!(["take_picture"]);
    let mut config = room.config(&json!(true), &json!({ "probe": probe }))?;
    config.extend(["--trajectory".to_owned(), file.display().to_string()]);
    let mut door = room.door(&config)?;
    let first = door.exec(
        "await MCP.probe.bumpCounter({ key: 'a' }); await yield_control(); \
         await MCP.probe.echoValue({ value: { password: 'hunter2-not-to-be-kept' } }); return 'end'",
    )?;
    expect_status(&first, "waiting")?;
    expect_equal(&door.wait(&first["runId"])?["value"], &json!("end"))?;
    door.client
        .request("tools/call", json!({ "name": "take_picture", "arguments": {} }))?;
    door.close()?;
    let written = std::fs::read_to_string(&file).context("no trajectory")?;
    ensure!(
        !written.contains("hunter2"),
        "a secret is in the trajectory:\n{written}"
    );
    let events: Vec<Value> = written
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    for (event, place) in events.iter().zip(1..) {
        expect_equal(&event["seq"], &json!(place))?;
    }
    let cell = events
        .iter()
        .find(|event| event["data"]["toolKind"] == "code_mode_exec")
        .context("no cell")?;
    let seen: Vec<Value> = events
        .iter()
        .map(|event| {
            let under = &event["data"]["parentToolCallId"];
            let under_the_cell = !under.is_null() && *under == cell["data"]["toolCallId"];
            json!([
                event["type"],
                event["data"]["name"],
                event["data"]["catalogId"],
                under_the_cell
            ])
        })
        .collect();
    let (bump, echo) = ("mcp:probe:bump_counter", "mcp:probe:echo_value");
    expect_equal(
        &json!(seen),
        &json!([
            ["session.started", null, null, false],
            ["tool.call", "exec", null, false],
            ["tool.call", "MCP.probe.bumpCounter", bump, true],
            ["tool.result", "MCP.probe.bumpCounter", bump, true],
            ["tool.result", "exec", null, false],
            ["tool.call", "wait", null, false],
            ["tool.call", "MCP.probe.echoValue", echo, true],
            ["tool.result", "MCP.probe.echoValue", echo, true],
            ["tool.result", "wait", null, false],
            ["tool.call", "mcp:probe:take_picture", null, false],
            ["tool.result", "mcp:probe:take_picture", null, false],
            ["session.ended", null, null, false],
        ]),
    )?;
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file)?.permissions());
    ensure!(mode & 0o077 == 0, "others can read the trajectory: {mode:o}");
    Ok(())
}
