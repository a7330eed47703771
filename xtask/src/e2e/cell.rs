//! What one cell can do with the servers behind the gateway.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Steps,
    room::{Door, Room, calls, expect_code, expect_equal, expect_status},
};

pub(super) fn play(steps: &mut Steps) {
    steps.play(
        "a typed cell searches, reads declarations and calls in parallel",
        whole_task,
    );
    steps.play("a race is won by the faster call", race);
    steps.play(
        "more parallel calls than run at once all succeed, each once",
        many_calls,
    );
    steps.play("failures of tools can be caught, and are never silent", failures);
    steps.play("arguments are checked before anything is sent", arguments);
    steps.play("no integer is rounded on its way", integers);
    steps.play("names with a meaning in JavaScript call nothing", harmless_names);
    steps.play(
        "forgotten calls are accounted for before the result",
        forgotten_calls,
    );
    steps.play("a flood of microtasks beside a pending call ends in time", flood);
    steps.play("oversized arguments cost the call, not the gateway", oversized);
    steps.play("output has one budget", output);
    steps.play("errors name the line of the submitted text", positions);
    steps.play("guests see neither the host nor each other", isolation);
}

fn door(room: &Room) -> Result<Door> {
    room.door(&room.config(&json!(true), &json!({ "probe": room.probe("probe.log", &[])? }))?)
}

fn whole_task(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let result = door.exec_typescript(
        r#"
        interface Found { path: string; server: string; tool: string }
        const found: Found[] = await MCP.$search("give a value back", { limit: 3 });
        const files: string[] = (await API.list("mcp")).map((file) => file.path);
        const text: string = await API.read("mcp/probe.d.ts");
        const [first, second] = await Promise.all([
          MCP.probe.echoValue({ value: { n: 1 } }),
          MCP.probe.slowValue({ ms: 50, value: "two" }),
        ]);
        console.log("joined");
        return {
          found: found.some((entry) => entry.path === "MCP.probe.echoValue"),
          files: files.filter((path) => path.endsWith(".d.ts")).sort(),
          declared: text.includes("echoValue"),
          values: [first.structuredContent.value, second.structuredContent.value],
        };
        "#,
    )?;
    expect_status(&result, "completed")?;
    let expected = json!({
        "found": true,
        "files": ["mcp/index.d.ts", "mcp/probe.d.ts"],
        "declared": true,
        "values": [{ "n": 1 }, "two"]
    });
    expect_equal(&result["value"], &expected)?;
    expect_equal(&result["output"], &json!([{ "type": "text", "text": "joined" }]))?;
    expect_equal(
        &result["telemetry"]["sources"],
        &json!({ "openclaw": 0, "mcp": 8, "client": 0 }),
    )?;
    expect_equal(&result["telemetry"]["callCount"], &json!(2))?;
    door.close()
}

fn race(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let result = door.exec(
        "const slow = MCP.probe.slowValue({ ms: 60000, value: 'slow' }); \
         const fast = MCP.probe.slowValue({ ms: 20, value: 'fast' }); \
         return (await Promise.race([slow, fast])).structuredContent.value",
    )?;
    expect_status(&result, "completed")?;
    expect_equal(&result["value"], &json!("fast"))?;
    let warnings = result["warnings"]
        .as_array()
        .context("the loser left no warning")?;
    ensure!(
        warnings.iter().any(|warning| warning["kind"] == "cancelled"),
        "{warnings:?}"
    );
    room.event("probe.log", "the loser's cancellation", |event| {
        event["event"] == "cancelled"
    })?;
    door.close()
}

fn many_calls(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let value = door.value(
        "const all = Array.from({ length: 60 }, (_, i) => MCP.probe.bumpCounter({ key: String(i) })); \
         const counts = (await Promise.all(all)).map(r => r.structuredContent.count); \
         return [counts.length, Math.max(...counts), new Set(counts).size]",
    )?;
    expect_equal(&value, &json!([60, 60, 60]))?;
    ensure!(
        calls(room, "probe.log", "bump_counter") == 60,
        "the server saw {} calls",
        calls(room, "probe.log", "bump_counter")
    );
    door.close()
}

fn failures(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let result = door.exec(
        "const r = await MCP.probe.failCall({ kind: 'result' }); return [r.isError, r.content[0].text]",
    )?;
    expect_status(&result, "completed")?;
    expect_equal(&result["value"], &json!([true, "asked to fail"]))?;
    ensure!(
        result["warnings"]
            .as_array()
            .is_some_and(|warnings| !warnings.is_empty()),
        "an error result left no warning: {result}"
    );
    let caught = door.value(
        "try { await MCP.probe.failCall({ kind: 'protocol' }); return 'no error' } \
         catch (e) { return [e instanceof Error, typeof e.name, e.message.includes('asked to fail')] }",
    )?;
    expect_equal(&caught, &json!([true, "string", true]))?;
    let forgotten = door.exec("MCP.probe.failCall({ kind: 'protocol' }); return 'ok'")?;
    expect_status(&forgotten, "completed")?;
    let warnings = forgotten["warnings"]
        .as_array()
        .context("a forgotten failure left no warning")?;
    ensure!(warnings.iter().any(|warning| warning["kind"] == "unawaited_failure" || warning["kind"] == "unhandled_rejection"), "{warnings:?}");
    let uncaught = door.exec("await MCP.probe.failCall({ kind: 'protocol' })")?;
    expect_code(&uncaught, "internal_error")?;
    door.close()
}

fn arguments(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let messages = door.value(
        "const messages = []; \
         for (const args of [{}, { key: 7 }, { key: 'a', extra: 1 }, 'text', null, [1]]) \
           try { await MCP.probe.bumpCounter(args); messages.push('called') } catch (e) { messages.push(e.message) } \
         const loop = {}; loop.self = loop; \
         try { await MCP.probe.echoValue({ value: loop }); messages.push('called') } catch (e) { messages.push(e.name) } \
         try { await MCP.probe.bumpCounted({ key: 'a' }); messages.push('called') } catch (e) { messages.push(e.message) } \
         return messages",
    )?;
    let messages: Vec<&str> = messages
        .as_array()
        .context("no messages")?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    ensure!(
        messages.len() == 8 && !messages.contains(&"called"),
        "{messages:?}"
    );
    ensure!(
        messages.first().is_some_and(|message| message.contains("key")),
        "the missing argument is not named: {messages:?}"
    );
    ensure!(
        messages.get(6) == Some(&"TypeError"),
        "a cycle is no TypeError: {messages:?}"
    );
    ensure!(
        calls(room, "probe.log", "bump_counter") == 0 && calls(room, "probe.log", "echo_value") == 0,
        "refused calls reached the server"
    );
    door.close()
}

fn integers(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let result = door.exec(
        "const { structuredContent: back } = await MCP.probe.echoValue({ value: [9007199254740993n, 1, 2.5] }); \
         return [typeof back.value[0], back.value[0] === 9007199254740993n, back.value]",
    )?;
    expect_status(&result, "completed")?;
    expect_equal(
        &result["value"],
        &json!(["bigint", true, [9_007_199_254_740_993_u64, 1, 2.5]]),
    )?;
    let sent = room.event("probe.log", "the call", |event| event["event"] == "call")?;
    expect_equal(&sent["arguments"]["value"][0], &json!(9_007_199_254_740_993_u64))?;
    door.close()
}

fn harmless_names(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let result = door.exec(
        "const awaited = await MCP.probe; const printed = JSON.stringify(MCP.probe); `${Object.keys(MCP)}`; console.log(MCP, MCP.probe, tools, API); \
         return [typeof awaited, typeof MCP.probe.then, typeof MCP.nothing]",
    )?;
    expect_status(&result, "completed")?;
    expect_equal(&result["value"], &json!(["object", "undefined", "undefined"]))?;
    expect_equal(&result["telemetry"]["callCount"], &json!(0))?;
    let called = room
        .events("probe.log")
        .iter()
        .any(|event| event["event"] == "call");
    ensure!(!called, "printing a namespace called a tool");
    door.close()
}

fn forgotten_calls(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let result =
        door.exec("for (let i = 0; i < 10; i++) MCP.probe.bumpCounter({ key: 'k' + i }); return 'done'")?;
    expect_status(&result, "completed")?;
    let delivered = calls(room, "probe.log", "bump_counter");
    ensure!(
        delivered == 10,
        "{delivered} of 10 calls had been made when the result came: {result}"
    );
    door.close()?;
    ensure!(
        calls(room, "probe.log", "bump_counter") == 10,
        "calls were made after the result"
    );
    Ok(())
}

fn flood(room: &Room) -> Result<()> {
    let probe = room.probe("probe.log", &[])?;
    let limits = json!({ "enabled": true, "timeoutMs": 500 });
    let mut door = room.door(&room.config(&limits, &json!({ "probe": probe }))?)?;
    let result = door.exec(
        "const call = MCP.probe.slowValue({ ms: 50, value: 1 }); (async () => { for (;;) await null })(); return await call",
    )?;
    expect_code(&result, "timeout")?;
    ensure!(door.value("return 1")? == 1, "the gateway no longer answers");
    door.close()
}

fn oversized(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    for megabytes in [2, 40] {
        let result = door.exec(&format!(
            "try {{ await MCP.probe.echoValue({{ value: 'x'.repeat({megabytes}e6) }}); return 'sent' }} catch (e) {{ return e.message }}"
        ))?;
        let refused = match result["value"].as_str() {
            Some(message) => message == "sent" || message.contains(|c: char| c.is_ascii_digit()),
            None => result["status"] == "failed",
        };
        ensure!(refused, "{megabytes} MB of arguments: {result}");
        ensure!(
            door.value("return 1")? == 1,
            "the gateway no longer answers after {megabytes} MB"
        );
    }
    door.close()
}

fn output(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let result =
        door.exec("text('a'); json({ b: 1 }); console.log('c', 2); return new Map([['k', new Date(0)]])")?;
    expect_status(&result, "completed")?;
    let expected = json!([{ "type": "text", "text": "a" }, { "type": "json", "value": { "b": 1 } }, { "type": "text", "text": "c 2" }]);
    expect_equal(&result["output"], &expected)?;
    ensure!(
        result["value"].to_string().contains("1970-01-01T00:00:00.000Z"),
        "a Map or a Date was lost: {}",
        result["value"]
    );
    let flooded = door.exec("text('head'); text('x'.repeat(1e6)); return 1")?;
    expect_code(&flooded, "output_limit_exceeded")?;
    ensure!(
        flooded["output"].to_string().contains("head"),
        "the head of the output is lost"
    );
    ensure!(
        flooded.to_string().len() < 100_000,
        "a result past its budget: {} bytes",
        flooded.to_string().len()
    );
    let large = door.exec("return (await MCP.probe.manyBytes({ bytes: 3000000 })).content[0].text.length")?;
    expect_equal(&large["value"], &json!(3_000_000))?;
    door.close()
}

fn positions(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    let result = door.exec_typescript("interface A {\n  a: number\n}\nconst a: A = { a: 1 };\nthrow new TypeError(`on line ${5 as number}`);")?;
    expect_code(&result, "internal_error")?;
    let error = result["error"].as_str().unwrap_or_default();
    ensure!(
        error.contains("TypeError") && error.contains("on line 5") && error.contains("cell:5:"),
        "{error}"
    );
    let refused = door.exec("await MCP.probe.bumpCounter({ key: 'a' });\nretur 1")?;
    expect_code(&refused, "invalid_input")?;
    ensure!(
        calls(room, "probe.log", "bump_counter") == 0,
        "a program that does not parse made a call"
    );
    door.close()
}

fn isolation(room: &Room) -> Result<()> {
    let mut door = door(room)?;
    door.value("globalThis.left = 1; Array.prototype.left = 1; return 1")?;
    let value = door.value(
        "return [typeof left, typeof [].left, typeof process, typeof fetch, typeof require, typeof XMLHttpRequest, typeof crypto.randomUUID(), new Date(0).getTimezoneOffset()]",
    )?;
    expect_equal(
        &value,
        &json!([
            "undefined",
            "undefined",
            "undefined",
            "undefined",
            "undefined",
            "undefined",
            "string",
            0
        ]),
    )?;
    let (first, second) = (
        door.value("return [Math.random(), crypto.randomUUID()]")?,
        door.value("return [Math.random(), crypto.randomUUID()]")?,
    );
    ensure!(
        first[0] != second[0] && first[1] != second[1],
        "two cells drew the same randomness: {first}"
    );
    door.close()
}
