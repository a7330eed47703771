//! The sixteen steps in which code mode is to be shown from end to end, for each wire format of a model.
//!
//! The gateway is the one with the shipping plugin; the MCP server is the probe; two more tools are the client's.

mod cleanup;
mod lookups;
mod record;
mod surface;
mod suspension;

pub(super) use cleanup::expect_refused;

use std::fs;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{
    stage::{LOG, Stage, talk},
    talk::ClientTool,
};
use crate::{
    e2e::{Chain, Steps, plugin::PROGRAM, room::Room},
    model::Api,
};

/// The tools that the catalog must have, beside those of MCP.
const CATALOG: [&str; 8] = [
    "client:app:select_file",
    "openclaw:core:glob",
    "openclaw:core:grep",
    "openclaw:core:ls",
    "openclaw:core:read",
    "openclaw:shipping:shipping_list",
    "openclaw:shipping:shipping_promote",
    "openclaw:shipping:shipping_quote",
];

/// Denied, one of each kind.
const DENIED: [&str; 3] = ["shipping_log", "bump_counter", "client:app:delete_account"];

/// Plays them for each wire format.
pub(in crate::e2e) fn play(steps: &mut Steps) {
    let program = steps.binary.with_file_name(PROGRAM);
    for api in Api::ALL {
        let numbers = (1..=16).map(|number| number.to_string());
        let names: Vec<String> = numbers.map(|number| name(api, &number, "")).collect();
        steps.chain(&program, &names, |chain, room| story(chain, room, api));
    }
}

fn name(api: Api, number: &str, what: &str) -> String {
    format!("seed {number} [{}]: {what}", api.name())
}

fn story(chain: &mut Chain<'_>, room: &Room, api: Api) {
    let name = |number: &str, what: &str| name(api, number, what);

    let stage = chain.step(
        &name(
            "1",
            "with code mode off the gateway starts, is healthy and ready, and lists its models",
        ),
        || open(room, api),
    );
    let told = chain.given(
        &name(
            "2",
            "a turn with few direct tools runs two of them and ends with what they gave",
        ),
        stage.as_ref(),
        surface::direct_turn,
    );
    chain.given(
        &name(
            "3",
            "the model saw exactly the direct tools, with the schemas they came with, and no exec or wait",
        ),
        told.as_ref(),
        |seen| surface::unchanged(seen),
    );
    drop(told);
    let stage = chain.taking(
        &name(
            "4",
            "the gateway ends in peace and starts again with code mode on",
        ),
        stage,
        |stage| stage.restart(&document(room, &json!({ "enabled": true }))?),
    );
    let told = chain.given(
        &name(
            "5",
            "a turn with core, plugin, MCP and client tools runs a cell that reads ALL_TOOLS",
        ),
        stage.as_ref(),
        |stage| stage.cell("return ALL_TOOLS", &client_tools()),
    );
    chain.given(
        &name(
            "6",
            "the model sees exec, wait and the direct-only tool, each once; no MCP or client text reaches it",
        ),
        told.as_ref(),
        |told| surface::code_mode(api, told),
    );
    chain.given(
        &name(
            "7",
            "ALL_TOOLS has every core, plugin and client tool, and neither MCP nor direct-only ones",
        ),
        told.as_ref(),
        lookups::all_tools,
    );
    drop(told);
    chain.given(
        &name("8", "search, describe, callValue and call reach core, plugin and client; the client answers a suspended cell"),
        stage.as_ref(),
        suspension::client_tools_resume,
    );
    chain.given(
        &name(
            "9",
            "API.list and API.read declare the visible MCP tools, without a call",
        ),
        stage.as_ref(),
        lookups::declarations,
    );
    chain.given(
        &name(
            "10",
            "MCP.probe.echoValue runs once; MCP tools are in neither ALL_TOOLS nor tools.*",
        ),
        stage.as_ref(),
        lookups::mcp_call,
    );
    chain.given(
        &name("11", "denied tools are nowhere, and no guessed id calls one"),
        stage.as_ref(),
        lookups::denied,
    );
    let short = json!({ "enabled": true, "timeoutMs": suspension::SHORT_MS });
    let stage = chain.taking(
        &name(
            "12, before",
            "the gateway starts again with little time for cells",
        ),
        stage,
        |stage| stage.restart(&document(room, &short)?),
    );
    let told = chain.given(
        &name(
            "12",
            "a slow nested call outlives its exec, which answers `waiting`",
        ),
        stage.as_ref(),
        suspension::waiting,
    );
    chain.given(
        &name(
            "13",
            "wait with that runId gives the tool's result to the restored VM",
        ),
        told.as_ref(),
        suspension::restored,
    );
    chain.given(
        &name(
            "14",
            "the client gets a final answer with what was printed after the restore",
        ),
        told.as_ref(),
        suspension::final_answer,
    );
    drop(told);
    let stage = chain.taking(
        &name(
            "15",
            "a timeout, a deleted turn, a vanished client and an expired snapshot leave no cell and no VM",
        ),
        stage,
        |stage| {
            cleanup::timeout_and_abort(&stage)?;
            let mut brief = short.clone();
            brief["snapshotTtlSeconds"] = json!(1);
            let stage = stage.restart(&document(room, &brief)?)?;
            cleanup::expiry(&stage)?;
            Ok(stage)
        },
    );
    chain.given(
        &name(
            "16",
            "the trajectory has every nested call under the exec that made it, over all starts",
        ),
        stage.as_ref(),
        record::trajectory,
    );
    chain.taking(
        &name("end", "the gateway ends in peace and leaves no process behind"),
        stage,
        |stage| stage.serve.stop(),
    );
}

/// Tools that the client brings: one is allowed, one denied.
fn client_tools() -> [ClientTool; 2] {
    [
        ClientTool {
            name: "select_file",
            description: "Lets a person pick one of the files on their screen.",
            parameters: json!({
                "type": "object", "properties": { "prompt": { "type": "string" } },
                "required": ["prompt"], "additionalProperties": false
            }),
        },
        ClientTool {
            name: "delete_account",
            description: "Deletes the account of the person at the screen.",
            parameters: json!({ "type": "object", "properties": {} }),
        },
    ]
}

/// The configuration, apart from model and agent.
fn document(room: &Room, code_mode: &Value) -> Result<Value> {
    let mut probe = room.probe(LOG, &[])?;
    probe["directOnly"] = json!(["take_picture"]);
    Ok(json!({
        "tools": { "codeMode": code_mode, "fs": { "roots": [{ "path": "work" }] }, "deny": DENIED },
        "mcp": { "servers": { "probe": probe } },
    }))
}

fn open(room: &Room, api: Api) -> Result<Stage<'_>> {
    let folder = room.files().join("work");
    fs::create_dir(&folder)?;
    fs::write(folder.join("notes.txt"), "kept in a root\n")?;
    let stage = Stage::open(
        room,
        api,
        talk(api),
        &document(room, &json!({ "enabled": false }))?,
    )?;
    let health = stage
        .serve
        .ask(crate::http::Request::get("/healthz").header("authorization", "none"))?;
    ensure!(
        health.expect(200)? == json!({ "status": "ok" }),
        "unhealthy: {health:?}"
    );
    let models = stage.serve.get("/v1/models")?;
    let ids: Vec<&str> = models["data"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|model| model["id"].as_str())
        .collect();
    for id in ["codecell", "house/scripted"] {
        ensure!(ids.contains(&id), "`{id}` is not among the models: {models}");
    }
    let runs = stage.serve.runs()?;
    ensure!(
        runs.runs.is_empty() && runs.suspended == 0 && runs.live == 0,
        "something runs: {runs:?}"
    );
    Ok(stage)
}
