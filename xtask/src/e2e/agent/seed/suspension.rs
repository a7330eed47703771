//! Steps 8 and 12 to 14: cells that go on later, after the client's answer or a slow server's.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    super::{
        stage::{Stage, Told},
        talk::Spoken,
    },
    client_tools,
};
use crate::{
    e2e::room::expect_equal,
    model::{Reply, Seen},
};

/// Milliseconds after which a cell that waits is suspended.
pub(super) const SHORT_MS: u64 = 400;

/// Milliseconds that the slow tool takes: longer than any single exec or wait.
const SLOW_MS: u64 = 1_000;

/// Finds tools of all kinds and calls them; the client's are called side by side, then one more after another.
const MIXED: &str = "\
    const [found] = await tools.search('price of a shipment by weight'); \
    const { parameters, output } = await tools.describe(found.id); \
    const quote = await tools.callValue(found.id, { tons: 2, express: true }); \
    const { tool, result } = await tools.call('openclaw:core:read', { path: 'notes.txt' }); \
    const client = (await tools.search('pick file screen')).find(entry => entry.source === 'client'); \
    const schema = (await tools.describe(client.id)).parameters; \
    text('before'); \
    const picked = await Promise.all(['first', 'second'].map(prompt => tools.callValue(client.id, { prompt }))); \
    text('between'); \
    const last = await tools.select_file({ prompt: 'last' }); \
    text('after'); \
    return { found: found.id, required: parameters.required, output, quote, read: [tool.id, result.details.text], \
      input: client.input, schema, picked, last }";

pub(super) fn client_tools_resume(stage: &Stage<'_>) -> Result<()> {
    stage.model.reset();
    stage.model.say(Reply::call("exec", json!({ "code": MIXED })));
    stage
        .model
        .then(|seen| Ok(Reply::text(format!("Picked {}.", seen.value()?["last"]))));
    let first = stage.ask(&client_tools())?;
    asked(&first, &["first", "second"])?;
    let [one, two] = first.calls.as_slice() else {
        anyhow::bail!("not two calls");
    };
    let runs = stage.serve.runs()?;
    let run = runs.only()?;
    expect_equal(
        &json!([run["kind"], run["state"]]),
        &json!(["turn", "waiting_for_client"]),
    )?;
    expect_equal(&run["session"], &json!(stage.talk.session))?;
    expect_equal(&json!(run["clientCalls"].as_array().map(Vec::len)), &json!(2))?;
    ensure!(
        runs.suspended == 1 && runs.live == 0,
        "the cell is not kept as an image alone: {runs:?}"
    );
    // In another order than they were asked, and one of them is no JSON.
    let second = stage.answer(
        &first,
        &[
            (&two.id, "just text"),
            (&one.id, r#"{"path":"a.txt","id":9007199254740993}"#),
        ],
    )?;
    asked(&second, &["last"])?;
    let last = second.calls.first().context("no call")?;
    let third = stage.answer(&second, &[(&last.id, r#"["c.txt"]"#)])?;
    expect_equal(&json!(third.text), &json!(r#"Picked ["c.txt"]."#))?;
    expect_equal(&json!(third.finish), &json!("stop"))?;
    stage.serve.quiet()?;
    for spoken in [&first, &third] {
        ensure!(spoken.usage.0 > 0 && spoken.usage.1 > 0, "no usage: {spoken:?}");
    }
    let seen = stage.model.finish()?;
    let result = seen.last().context("no request")?.cell("completed")?;
    let [select, _] = client_tools();
    expect_equal(
        &result["value"],
        &json!({
            "found": "openclaw:shipping:shipping_quote",
            "required": ["tons"],
            "output": "{ cents: number; currency: \"EUR\" }",
            "quote": { "cents": 36_000, "currency": "EUR" },
            "read": ["openclaw:core:read", "kept in a root\n"],
            "input": "unknown",
            "schema": select.parameters,
            "picked": [{ "path": "a.txt", "id": 9_007_199_254_740_993_u64 }, "just text"],
            "last": ["c.txt"]
        }),
    )?;
    expect_equal(&result["output"], &texts(&["before", "between", "after"]))?;
    // The model has asked for one cell and has got one result; the client's part is not its business.
    expect_equal(
        &json!([seen.len(), seen.last().map(|seen| seen.results.len())]),
        &json!([2, 1]),
    )
}

/// The turn ended with calls of the client's tool, for these prompts in some order.
fn asked(spoken: &Spoken, prompts: &[&str]) -> Result<()> {
    expect_equal(&json!(spoken.finish), &json!("tool_calls"))?;
    let mut asked: Vec<&str> = Vec::new();
    for call in &spoken.calls {
        expect_equal(&json!(call.name), &json!("select_file"))?;
        let digits = call.id.strip_prefix("call_").unwrap_or_default();
        ensure!(
            digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
            "an id of another form: `{}`",
            call.id
        );
        asked.extend(call.arguments["prompt"].as_str());
    }
    asked.sort_unstable();
    expect_equal(&json!(asked), &json!(prompts))
}

fn texts(texts: &[&str]) -> Value {
    texts
        .iter()
        .map(|text| json!({ "type": "text", "text": text }))
        .collect()
}

/// A turn whose cell has to be continued until its slow call has settled.
pub(super) fn waiting(stage: &Stage<'_>) -> Result<Told> {
    stage.model.reset();
    stage.model.say(Reply::call(
        "exec",
        json!({ "code": format!(
            "text('before'); const kept = new Map([['n', 41n]]); \
             const {{ structuredContent }} = await MCP.probe.slowValue({{ ms: {SLOW_MS}, value: 'late' }}); \
             text('after the restore: ' + structuredContent.value); return [structuredContent.value, kept.get('n') + 1n]"
        ) }),
    ));
    stage.model.otherwise(|seen| {
        let result = seen.last()?.json()?;
        if result["status"] == "waiting" {
            return Ok(Reply::call("wait", json!({ "runId": result["runId"] })));
        }
        let result = seen.cell("completed")?;
        let printed = result["output"].as_array().into_iter().flatten();
        let printed: Vec<&str> = printed.filter_map(|output| output["text"].as_str()).collect();
        Ok(Reply::text(printed.join(" ")))
    });
    let spoken = stage.ask(&client_tools())?;
    let seen = stage.model.finish()?;
    let first = seen.get(1).context("the model got no result")?.cell("waiting")?;
    expect_equal(&first["reason"], &json!("pending_tools"))?;
    expect_equal(
        &first["pendingToolCalls"][0]["tool"],
        &json!("MCP.probe.slowValue"),
    )?;
    expect_equal(&first["output"], &texts(&["before"]))?;
    ensure!(first["runId"].is_string(), "no run id: {first}");
    let result = seen.last().context("no request")?.cell("completed")?;
    Ok(Told { spoken, seen, result })
}

pub(super) fn restored(told: &Told) -> Result<()> {
    let calls: Vec<&str> = told
        .seen
        .last()
        .into_iter()
        .flat_map(|seen: &Seen| &seen.messages)
        .flat_map(|said| &said.calls)
        .map(String::as_str)
        .collect();
    let newest: Vec<&str> = calls
        .iter()
        .rev()
        .take_while(|name| **name == "wait")
        .copied()
        .collect();
    ensure!(!newest.is_empty(), "the cell ended without a wait: {calls:?}");
    expect_equal(told.value(), &json!(["late", 42]))?;
    expect_equal(&told.result["output"], &texts(&["after the restore: late"]))
}

pub(super) fn final_answer(told: &Told) -> Result<()> {
    expect_equal(&json!(told.spoken.text), &json!("after the restore: late"))?;
    expect_equal(&json!(told.spoken.finish), &json!("stop"))
}
