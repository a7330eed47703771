//! Steps 2, 3 and 6: what the model sees.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    super::serve::MODEL_KEY,
    super::stage::{SYSTEM, Stage, Told},
    client_tools,
};
use crate::{
    e2e::room::expect_equal,
    model::{Api, Call, Offered, Reply, Seen, Turn},
};

/// What only MCP servers and clients say of themselves.
const FOREIGN: [&str; 5] = [
    "Waits, then returns the value.",
    "Returns the value it was given.",
    "Every tool shows one thing that can happen to a call.",
    "Lets a person pick one of the files on their screen.",
    "Deletes the account of the person at the screen.",
];

/// The tools without code mode: core, plugin, MCP, client.
const DIRECT: [&str; 14] = [
    "echo_value",
    "fail_call",
    "crash_server",
    "glob",
    "grep",
    "ls",
    "many_bytes",
    "read",
    "report_progress",
    "select_file",
    "shipping_list",
    "shipping_promote",
    "shipping_quote",
    "slow_value",
];

pub(super) fn direct_turn(stage: &Stage<'_>) -> Result<Vec<Seen>> {
    stage.model.say(Reply::Awkward(Turn {
        text: "Let me look.".to_owned(),
        calls: vec![
            Call::new("shipping_quote", json!({ "tons": 2 })),
            Call::new("echo_value", json!({ "value": "direct" })),
        ],
    }));
    stage.model.then(|seen| {
        let [quote, echo] = seen.results.as_slice() else {
            anyhow::bail!("expected two results: {:?}", seen.results);
        };
        expect_equal(&quote.json()?["cents"], &json!(18_000))?;
        ensure!(echo.text.contains("direct"), "the echo came as {echo:?}");
        Ok(Reply::text("It costs 18000 cents."))
    });
    let spoken = stage.ask(&client_tools())?;
    ensure!(
        spoken.text.ends_with("It costs 18000 cents.") && spoken.calls.is_empty() && spoken.finish == "stop",
        "another answer: {spoken:?}"
    );
    ensure!(spoken.usage.0 > 0 && spoken.usage.1 > 0, "no usage: {spoken:?}");
    stage.model.finish()
}

pub(super) fn unchanged(seen: &[Seen]) -> Result<()> {
    for seen in seen {
        let mut names = seen.names();
        names.sort_unstable();
        let mut expected = [&DIRECT[..], &["take_picture"]].concat();
        expected.sort_unstable();
        expect_equal(&json!(names), &json!(expected))?;
        ensure!(
            seen.tools.iter().all(|tool| tool.kind == "function"),
            "a hosted tool: {:?}",
            seen.tools
        );
        ensure!(
            seen.key.as_deref() == Some(MODEL_KEY),
            "the key came as {:?}",
            seen.key
        );
        ensure!(
            seen.system.contains(SYSTEM),
            "the system prompt is `{}`",
            seen.system
        );
        ensure!(seen.model == "scripted", "asked for `{}`", seen.model);
        let [select, _] = client_tools();
        let offered = seen.tool("select_file")?;
        expect_equal(&offered.schema, &select.parameters)?;
        expect_equal(&json!(offered.description), &json!(select.description))?;
        expect_equal(
            &seen.tool("slow_value")?.schema,
            &json!({
                "type": "object", "properties": { "ms": { "type": "integer", "minimum": 0 }, "value": {} },
                "required": ["ms"], "additionalProperties": false
            }),
        )?;
    }
    Ok(())
}

pub(super) fn code_mode(api: Api, told: &Told) -> Result<()> {
    for seen in &told.seen {
        expect_equal(&json!(seen.names()), &json!(["exec", "wait", "take_picture"]))?;
        declared(api, &seen.body["tools"])?;
        exec_is_plain(seen.tool("exec")?)?;
        let wait = seen.tool("wait")?;
        expect_equal(&wait.schema["required"], &json!(["runId"]))?;
        for text in FOREIGN {
            ensure!(!seen.prompt().contains(text), "the model reads `{text}`");
        }
        let exec = &seen.tool("exec")?.description;
        for id in [
            "openclaw:core:read",
            "openclaw:shipping:shipping_quote",
            "MCP.<server>.<tool>",
        ] {
            ensure!(exec.contains(id), "exec does not teach `{id}`: {exec}");
        }
        for id in [
            "select_file",
            "delete_account",
            "shipping_log",
            "echo_value",
            "slow_value",
        ] {
            ensure!(!seen.prompt().contains(id), "the model reads `{id}`");
        }
    }
    Ok(())
}

/// The tools are spelled as this format spells them, and nothing else is among them.
fn declared(api: Api, tools: &Value) -> Result<()> {
    let list = tools.as_array().context("no list of tools")?;
    let keys = |tool: &Value| -> Vec<String> {
        tool.as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .collect()
    };
    match api {
        Api::Responses | Api::Chat => {
            ensure!(list.len() == 3, "not three tools: {tools}");
            for tool in list {
                ensure!(tool["type"] == "function", "no function: {tool}");
                let function = if api == Api::Chat { &tool["function"] } else { tool };
                ensure!(
                    function["name"].is_string() && function["parameters"].is_object(),
                    "a bad tool: {tool}"
                );
            }
        }
        Api::Messages => {
            ensure!(list.len() == 3, "not three tools: {tools}");
            for tool in list {
                ensure!(
                    tool["name"].is_string() && tool["input_schema"]["type"] == "object",
                    "a bad tool: {tool}"
                );
            }
        }
        Api::Google => {
            let [group] = list.as_slice() else {
                anyhow::bail!("not one group: {tools}");
            };
            ensure!(
                keys(group) == ["functionDeclarations"],
                "more than declarations: {group}"
            );
            let declarations = group["functionDeclarations"].as_array().map(Vec::len);
            ensure!(declarations == Some(3), "not three declarations: {group}");
        }
    }
    Ok(())
}

/// Models of all kinds must be able to read it.
fn exec_is_plain(exec: &Offered) -> Result<()> {
    let schema = &exec.schema;
    ensure!(
        schema["properties"]["code"]["type"] == "string",
        "no code: {schema}"
    );
    expect_equal(
        &schema["properties"]["language"]["enum"],
        &json!(["javascript", "typescript"]),
    )?;
    let text = schema.to_string();
    for word in ["oneOf", "anyOf", "allOf"] {
        ensure!(!text.contains(word), "`{word}` in {schema}");
    }
    Ok(())
}
