//! The official `OpenAI` SDKs as clients of `codecell serve`: a turn with a tool of their own.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::tools::Tools;
use crate::{
    e2e::{
        Steps,
        agent::{Stage, Surface, TOKEN, Talk},
        room::{LIMIT, Room, expect_equal},
    },
    model::{Api, Reply},
    process, workspace,
};

/// Asks the client twice, the second time knowing the first answer.
const CELL: &str = "const first = await tools.select_file({ prompt: 'first' }); \
                    const second = await tools.select_file({ prompt: `after ${first.path}` }); \
                    return [first.path, second.path]";

pub(super) fn play(steps: &mut Steps, tools: &Tools) {
    let script = |name: &str| workspace::root().join("e2e/clients").join(name);
    steps.play(
        "real: the OpenAI SDK for Python answers a suspended cell, chat and responses, streamed and not",
        |room| {
            let mut command = room.program(tools.python());
            command.arg(script("openai_client.py"));
            turns(room, command)
        },
    );
    steps.play(
        "real: the OpenAI SDK for Node answers a suspended cell, chat and responses, streamed and not",
        |room| {
            let mut command = room.program(tools.node());
            command
                .arg(script("openai_client.mjs"))
                .env("NODE_MODULES", tools.node_modules());
            turns(room, command)
        },
    );
}

fn turns(room: &Room, mut client: Command) -> Result<()> {
    let talk = Talk {
        surface: Surface::Chat,
        streamed: false,
        session: String::new(),
        model: "codecell".to_owned(),
    };
    let stage = Stage::open(
        room,
        Api::Responses,
        talk,
        &json!({ "tools": { "codeMode": true } }),
    )?;
    stage.model.otherwise(|seen| {
        Ok(if seen.results.is_empty() {
            Reply::call("exec", json!({ "code": CELL }))
        } else {
            Reply::text(format!("You picked {}.", seen.value()?))
        })
    });
    client.args([&stage.serve.base_url(), TOKEN, "codecell"]);
    let finished = process::run(&mut client, "", LIMIT)?;
    ensure!(
        finished.code == Some(0),
        "the client ended with {:?}:\n{}\nthe model's script: {:?}\nthe gateway:\n{}",
        finished.code,
        finished.stderr,
        stage.model.faults(),
        stage.serve.stderr()
    );
    let report: Value = serde_json::from_str(finished.stdout.trim())
        .with_context(|| format!("no JSON: {}", finished.stdout))?;
    for api in ["chat", "responses"] {
        for (delivery, turn) in ["at once", "in pieces"]
            .iter()
            .zip(report[api].as_array().context("no turns")?)
        {
            expect_equal(
                &turn["calls"],
                &json!([
                    ["select_file", { "prompt": "first" }],
                    ["select_file", { "prompt": "after first.txt" }]
                ]),
            )?;
            expect_equal(
                &turn["text"],
                &json!(r#"You picked ["first.txt","after first.txt.txt"]."#),
            )?;
            ensure!(
                turn["tokens"].as_u64().is_some_and(|tokens| tokens > 0),
                "it cost nothing: {turn}"
            );
            let whole = *delivery == "at once";
            ensure!(
                whole || turn["pieces"].as_u64().is_some_and(|pieces| pieces > 1),
                "the text did not come in pieces: {turn}"
            );
        }
    }
    let models = report["models"].as_array().context("no models")?;
    ensure!(
        models.contains(&json!("codecell")) && models.contains(&json!("house/scripted")),
        "other models: {models:?}"
    );
    expect_equal(&report["refused"], &json!(["invalid_api_key", "model_not_found"]))?;
    // Two questions to the model in each of four turns.
    expect_equal(&json!(stage.model.finish()?.len()), &json!(8))?;
    stage.serve.quiet()?;
    stage.serve.stop()
}
