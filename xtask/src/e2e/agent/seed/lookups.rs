//! Steps 7 and 9 to 11: what a cell finds, and what it does not.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{
    super::stage::{LOG, Stage, Told},
    CATALOG, client_tools,
};
use crate::e2e::room::{calls, expect_equal};

pub(super) fn all_tools(told: &Told) -> Result<()> {
    let entries = told.value().as_array().context("ALL_TOOLS is no list")?;
    let mut ids: Vec<&str> = entries.iter().filter_map(|entry| entry["id"].as_str()).collect();
    ids.sort_unstable();
    expect_equal(&json!(ids), &json!(CATALOG))?;
    for entry in entries {
        ensure!(
            entry.get("parameters").is_none() && entry["input"].is_string(),
            "not a compact entry: {entry}"
        );
    }
    let source = |id: &str| {
        entries
            .iter()
            .find(|entry| entry["id"] == id)
            .map(|entry| &entry["source"])
    };
    expect_equal(&json!(source("client:app:select_file")), &json!("client"))?;
    expect_equal(&json!(source("openclaw:core:read")), &json!("openclaw"))?;
    let telemetry = &told.result["telemetry"];
    expect_equal(
        &telemetry["visibleTools"],
        &json!(["exec", "wait", "take_picture"]),
    )?;
    expect_equal(&telemetry["sources"]["client"], &json!(1))
}

pub(super) fn declarations(stage: &Stage<'_>) -> Result<()> {
    let told = stage.cell(
        "const files = await API.list('mcp'); const declared = await API.read('mcp/probe.d.ts'); \
         const refused = []; \
         for (const path of ['mcp/other.d.ts', 'mcp/../mcp/probe.d.ts', '/etc/passwd']) \
           try { refused.push(await API.read(path)) } catch (error) { refused.push(error instanceof Error) } \
         return [files.map(file => file.path), declared, refused]",
        &client_tools(),
    )?;
    let [files, declared, refused] = told.value().as_array().map_or(&[][..], Vec::as_slice) else {
        anyhow::bail!("another value: {}", told.result);
    };
    expect_equal(
        files,
        &json!(["mcp/index.d.ts", "mcp/probe.d.ts", "mcp/probe.schema.json"]),
    )?;
    let declared = declared.as_str().context("no declarations")?;
    for text in [
        "declare namespace MCP.probe",
        "function echoValue(input: { value: unknown }): Promise<McpToolResult<{ value: unknown }>>;",
        "function slowValue(input: {",
        "ms: number;",
    ] {
        ensure!(declared.contains(text), "no `{text}` in {declared}");
    }
    for text in ["bumpCounter", "takePicture"] {
        ensure!(!declared.contains(text), "`{text}` in {declared}");
    }
    expect_equal(refused, &json!([true, true, true]))?;
    expect_equal(&told.result["telemetry"]["callCount"], &json!(0))
}

pub(super) fn mcp_call(stage: &Stage<'_>) -> Result<()> {
    let before = calls(stage.room, LOG, "echo_value");
    let told = stage.cell(
        "const { structuredContent, isError } = await MCP.probe.echoValue({ value: { n: 9007199254740993n } }); \
         let byId; try { byId = await tools.callValue('mcp:probe:echo_value', { value: 2 }) } catch (error) { byId = error.code } \
         return [structuredContent, isError ?? false, byId, ALL_TOOLS.some(tool => tool.source === 'mcp'), \
           Object.keys(tools).some(name => name.includes('echo')), typeof tools.echo_value, \
           (await tools.search('returns the value it was given')).some(tool => tool.source === 'mcp')]",
        &client_tools(),
    )?;
    expect_equal(
        told.value(),
        &json!([
            { "value": { "n": 9_007_199_254_740_993_u64 } },
            false,
            "invalid_input",
            false,
            false,
            "undefined",
            false
        ]),
    )?;
    expect_equal(&json!(calls(stage.room, LOG, "echo_value") - before), &json!(1))
}

pub(super) fn denied(stage: &Stage<'_>) -> Result<()> {
    let ids = json!([
        "openclaw:shipping:shipping_log",
        "shipping_log",
        "client:app:delete_account",
        "client:delete_account",
        "mcp:probe:bump_counter",
        "bump_counter",
        "mcp:probe:take_picture",
        "openclaw:core:exec",
        "openclaw:core:wait",
        "exec",
        "wait",
        "tool_search_code"
    ]);
    let told = stage.cell(
        &format!(
            "const guessed = {ids}; const came = []; \
             for (const id of guessed) for (const way of ['call', 'callValue', 'describe']) \
               try {{ came.push([id, way, await tools[way](id, {{ key: 'a' }})]) }} \
               catch (error) {{ if (error.code !== 'invalid_input') came.push([id, way, error.code, error.message]) }} \
             for (const call of [() => MCP.probe.bumpCounter({{ key: 'a' }}), () => MCP.probe.bump_counter({{ key: 'a' }}), \
                 () => tools.shipping_log({{}}), () => tools.delete_account({{}}), () => tools.exec({{ code: '1' }})]) \
               try {{ came.push(await call()) }} catch (error) {{ if (error.name !== 'TypeError') came.push(error.message) }} \
             const found = []; for (const words of ['log', 'delete account', 'counter', 'exec wait']) found.push(...await tools.search(words), ...await MCP.$search(words)); \
             return [came, typeof Shipping, ALL_TOOLS.concat(found).map(tool => tool.id ?? tool.path)]",
        ),
        &client_tools(),
    )?;
    expect_equal(&told.value()[0], &json!([]))?;
    // Its plugin's namespace promises what a denied tool does, so it is not there either.
    expect_equal(&told.value()[1], &json!("undefined"))?;
    let found = told.value()[2].to_string();
    for name in ["shipping_log", "delete_account", "bump", "picture"] {
        ensure!(!found.contains(name), "`{name}` in {found}");
    }
    let asked = calls(stage.room, LOG, "bump_counter") + calls(stage.room, LOG, "take_picture");
    ensure!(asked == 0, "a tool that cells may not call was called");
    ensure!(
        told.spoken.calls.is_empty(),
        "the client was asked: {:?}",
        told.spoken.calls
    );
    nothing_named(
        told.first()?.prompt().as_str(),
        &["shipping_log", "bump_counter", "delete_account"],
    )
}

fn nothing_named(prompt: &str, names: &[&str]) -> Result<()> {
    for name in names {
        ensure!(!prompt.contains(name), "the model reads `{name}`");
    }
    Ok(())
}
