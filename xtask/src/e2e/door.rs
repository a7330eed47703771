//! `codecell mcp` as a protocol peer: both eras, the list of tools, and what it does with nonsense.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Steps,
    room::{Door, Room, calls, expect_code, expect_equal, expect_status},
};
use crate::mcp::{LEGACY, MODERN, PIXEL, RpcError, VERSION_KEY};

pub(super) fn play(steps: &mut Steps) {
    steps.play(
        "mcp answers every revision that begins with a handshake",
        handshakes,
    );
    steps.play(
        "mcp answers the stateless revision without a handshake",
        stateless,
    );
    steps.play(
        "mcp lists exec and wait, and nothing of the servers behind it",
        surface,
    );
    steps.play("mcp reads the file that other hosts use", foreign_configuration);
    steps.play(
        "a direct-only tool stays beside exec and wait, and its picture arrives unchanged",
        direct_only,
    );
    steps.play("mcp refuses bad arguments with a result", bad_arguments);
    steps.play("mcp survives garbage on its input", garbage);
    steps.play("mcp serves the demo server", demo_server);
}

fn with_probe(room: &Room) -> Result<Vec<String>> {
    room.config(&json!(true), &json!({ "probe": room.probe("probe.log", &[])? }))
}

fn handshakes(room: &Room) -> Result<()> {
    let config = room.config(&json!(true), &json!({}))?;
    for version in LEGACY {
        let mut door = room.closed_door(&config)?;
        let answer = door.initialize(version)?;
        expect_equal(&answer["protocolVersion"], &json!(version))?;
        ensure!(
            answer["capabilities"]["tools"].is_object(),
            "no tools capability: {answer}"
        );
        ensure!(door.tools()? == ["exec", "wait"], "{version}: other tools");
        ensure!(door.value("return 1")? == 1, "{version}: another value");
        door.close()?;
    }
    let mut door = room.closed_door(&config)?;
    let answer = door.initialize("1999-01-01")?;
    let offered = answer["protocolVersion"].as_str().unwrap_or_default();
    ensure!(
        LEGACY.contains(&offered),
        "an unknown revision was answered with `{offered}`"
    );
    door.close()
}

fn stateless(room: &Room) -> Result<()> {
    let mut door = room.closed_door(&room.config(&json!(true), &json!({}))?)?;
    let meta = json!({
        VERSION_KEY: MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "codecell-e2e", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let found = door.client.request("server/discover", json!({ "_meta": meta }))?;
    let versions = found["supportedVersions"]
        .as_array()
        .context("no `supportedVersions`")?;
    ensure!(
        versions.contains(&json!(MODERN)),
        "{MODERN} is not offered: {found}"
    );
    let listed = door.client.request("tools/list", json!({ "_meta": meta }))?;
    ensure!(
        listed["ttlMs"].is_u64() && listed["cacheScope"].is_string(),
        "a list without `ttlMs` and `cacheScope`: {listed}"
    );
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments, "_meta": meta });
    let answer = door.client.request(
        "tools/call",
        call("exec", json!({ "code": "await yield_control('x'); return 5" })),
    )?;
    ensure!(
        answer["resultType"] == "complete",
        "a result without its type: {answer}"
    );
    let waiting = Door::result(answer)?;
    expect_status(&waiting, "waiting")?;
    let answer = door
        .client
        .request("tools/call", call("wait", json!({ "runId": waiting["runId"] })))?;
    let done = Door::result(answer)?;
    expect_status(&done, "completed")?;
    expect_equal(&done["value"], &json!(5))?;
    let mut wrong = meta.clone();
    wrong[VERSION_KEY] = json!("2031-01-01");
    let refused = door.client.request("tools/list", json!({ "_meta": wrong }));
    ensure!(
        refused.as_ref().err().is_some_and(|error| error.is::<RpcError>()),
        "an unknown revision was served: {refused:?}"
    );
    door.close()
}

fn surface(room: &Room) -> Result<()> {
    let mut door = room.door(&with_probe(room)?)?;
    let listed = door.client.request("tools/list", json!({}))?;
    let tools = listed["tools"].as_array().context("no tools")?;
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    ensure!(names == ["exec", "wait"], "tools: {names:?}");
    let text = listed.to_string();
    for hidden in ["echo_value", "echoValue", "Returns the value it was given"] {
        ensure!(
            !text.contains(hidden),
            "the list shows `{hidden}` of an upstream server"
        );
    }
    for tool in tools {
        let schema = &tool["inputSchema"];
        ensure!(
            schema["type"] == "object",
            "{} has a schema without a type",
            tool["name"]
        );
        ensure!(
            !schema.to_string().contains("Of\""),
            "{} has a schema that is not flat: {schema}",
            tool["name"]
        );
    }
    let properties = &tools.first().context("no exec")?["inputSchema"]["properties"];
    expect_equal(
        &properties["language"]["enum"],
        &json!(["javascript", "typescript"]),
    )?;
    // What the server is: the listing must not change while servers come and go.
    let again = door.client.request("tools/list", json!({}))?;
    expect_equal(&again["tools"], &listed["tools"])?;
    door.close()
}

fn foreign_configuration(room: &Room) -> Result<()> {
    let probe = room.probe("probe.log", &[])?;
    let mut off = probe.clone();
    off["disabled"] = json!(true);
    for (name, document) in [
        (
            ".mcp.json",
            json!({ "mcpServers": { "probe": probe, "other": off } }),
        ),
        (
            "vscode.json",
            json!({ "inputs": [], "servers": { "probe": probe, "other": off } }),
        ),
    ] {
        let path = room.file(name, &document.to_string())?;
        let mut door = room.door(&["--mcp-config".into(), path.display().to_string()])?;
        let value = door.value(
            "const { value } = (await MCP.probe.echoValue({ value: 1 })).structuredContent; \
             try { await MCP.other.echoValue({ value: 1 }); return [value, 'called'] } catch { return [value, 'refused'] }",
        )?;
        expect_equal(&value, &json!([1, "refused"])).with_context(|| name.to_owned())?;
        door.close()?;
    }
    Ok(())
}

fn direct_only(room: &Room) -> Result<()> {
    let mut probe = room.probe("probe.log", &[])?;
    probe["directOnly"] = json!(["take_picture"]);
    probe["deny"] = json!(["crash_*"]);
    let mut door = room.door(&room.config(&json!(true), &json!({ "probe": probe }))?)?;
    // The first cell waits for servers that were never seen before.
    door.value("return 1")?;
    let tools = door.tools()?;
    ensure!(tools == ["exec", "wait", "take_picture"], "tools: {tools:?}");
    let answer = door
        .client
        .request("tools/call", json!({ "name": "take_picture", "arguments": {} }))?;
    expect_equal(
        &answer,
        &json!({ "content": [{ "type": "image", "data": PIXEL, "mimeType": "image/png" }] }),
    )?;
    let result = door.exec(
        "let guessed; try { guessed = await tools.call('mcp:probe:take_picture', {}) } catch (error) { guessed = error.code } \
         const declared = await API.read('mcp/probe.d.ts'); \
         const found = await MCP.$search('picture crash', { limit: 50 }); \
         return [typeof MCP.probe.takePicture, typeof MCP.probe.crashServer, typeof MCP.probe.echoValue, guessed, \
           /picture|crash/i.test(declared), found.some(entry => /picture|crash/.test(entry.tool))]",
    )?;
    expect_equal(
        &result["value"],
        &json!([
            "undefined",
            "undefined",
            "function",
            "invalid_input",
            false,
            false
        ]),
    )?;
    expect_equal(
        &result["telemetry"]["visibleTools"],
        &json!(["exec", "wait", "take_picture"]),
    )?;
    let denied = door
        .client
        .request("tools/call", json!({ "name": "crash_server", "arguments": {} }));
    ensure!(
        denied.as_ref().err().is_some_and(|error| error.is::<RpcError>()),
        "a denied tool was called: {denied:?}"
    );
    ensure!(
        calls(room, "probe.log", "take_picture") == 1,
        "the picture was not taken once"
    );
    door.close()
}

fn bad_arguments(room: &Room) -> Result<()> {
    let mut door = room.door(&room.config(&json!(true), &json!({}))?)?;
    for (tool, arguments) in [
        ("exec", json!({})),
        ("exec", json!({ "code": 7 })),
        ("exec", json!({ "code": "return 1", "command": "return 2" })),
        ("exec", json!({ "code": "return 1", "language": "python" })),
        ("exec", json!({ "code": "return 1", "restartSafe": "yes" })),
        ("wait", json!({})),
        ("wait", json!({ "runId": 7 })),
        ("wait", json!({ "runId": "no-such-run" })),
    ] {
        let result = door.call(tool, arguments.clone())?;
        expect_code(&result, "invalid_input").with_context(|| format!("{tool} {arguments}"))?;
        ensure!(
            result["error"].as_str().is_some_and(|error| !error.is_empty()),
            "no reason: {result}"
        );
    }
    let same = door.call("exec", json!({ "code": "return 1", "command": "return 1" }))?;
    expect_status(&same, "completed")?;
    let unknown = door
        .client
        .request("tools/call", json!({ "name": "nothing", "arguments": {} }));
    ensure!(
        unknown.as_ref().err().is_some_and(|error| error.is::<RpcError>()),
        "an unknown tool was called: {unknown:?}"
    );
    door.close()
}

fn garbage(room: &Room) -> Result<()> {
    let mut door = room.door(&room.config(&json!(true), &json!({}))?)?;
    let long = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}", "x".repeat(1 << 20));
    for line in [
        "{ not json",
        "",
        "[]",
        "42",
        "null",
        "\u{feff}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":7}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nothing\",\"params\":[1]}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"unasked\",\"result\":{}}",
        &"[".repeat(10_000),
        &long,
    ] {
        door.client.write_line(line)?;
    }
    ensure!(door.value("return 1")? == 1, "the gateway no longer answers");
    let unknown = door.client.request("no/such/method", json!({}));
    ensure!(
        unknown.as_ref().err().is_some_and(|error| error.is::<RpcError>()),
        "an unknown method was answered: {unknown:?}"
    );
    ensure!(door.value("return 2")? == 2, "the gateway no longer answers");
    door.close()
}

fn demo_server(room: &Room) -> Result<()> {
    let binary = room.binary().display().to_string();
    let mut demo = room.server(&binary, &["demo-server"]);
    demo["directOnly"] = json!(["product_photo"]);
    let mut door = room.door(&room.config(
        &json!({ "enabled": true, "timeoutMs": 500 }),
        &json!({ "demo": demo }),
    )?)?;
    // The first cell waits for servers that were never seen before.
    door.value("return 1")?;
    let tools = door.tools()?;
    let [_, _, photo] = tools.as_slice() else {
        anyhow::bail!("expected exec, wait and the photo: {tools:?}")
    };
    let picture = door.client.request(
        "tools/call",
        json!({ "name": photo, "arguments": { "sku": "MUG-RED" } }),
    )?;
    expect_equal(&picture["content"][0]["type"], &json!("image"))?;
    let first = door.exec_typescript(
        r#"
        const files: string[] = (await API.list("mcp")).map((file) => file.path);
        const declared: string = await API.read("mcp/demo.d.ts");
        const { customers } = (await MCP.demo.listCustomers({ tier: "gold" })).structuredContent;
        const orders = await Promise.all(
          customers.map((customer) => MCP.demo.listOrders({ customer_id: customer.id, limit: 2 })),
        );
        const report = await MCP.demo.buildReport({ month: 3, seconds: 2 });
        let flaky = "";
        try {
          flaky = (await MCP.demo.flakyPaymentStatus({ order_id: "o-1001" })).isError ? "failed" : "worked";
        } catch {
          flaky = "failed";
        }
        return {
          files: files.filter((path) => path.endsWith(".d.ts")).sort(),
          declared: declared.includes("listCustomers"),
          gold: customers.length > 0 && customers.every((customer) => customer.tier === "gold"),
          asked: orders.length === customers.length,
          report: report.isError !== true,
          flaky,
        };
        "#,
    )?;
    expect_status(&first, "waiting")?;
    let last = door.settle(first)?;
    expect_status(&last, "completed")?;
    let expected = json!({
        "files": ["mcp/demo.d.ts", "mcp/index.d.ts"],
        "declared": true, "gold": true, "asked": true, "report": true, "flaky": "failed"
    });
    expect_equal(&last["value"], &expected)?;
    door.close()
}
