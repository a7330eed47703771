//! Calls that wait for a person, who answers from another process.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Steps,
    room::{Door, LIMIT, Room, calls, expect_equal, expect_status},
};
use crate::process;

/// Where the probe of these steps logs.
const LOG: &str = "probe.log";

/// Milliseconds after which a cell that waits for a person is suspended.
pub(super) const SHORT_MS: u64 = 300;

pub(super) fn play(steps: &mut Steps) {
    steps.play("a suspended call runs once another process allows it", allowed);
    steps.play(
        "a call that a person denies, or that nobody answers, can be caught",
        refused,
    );
    steps.play(
        "allow-always is asked once, and a question ends with its cell",
        remembered,
    );
}

/// A cell with one call that needs an approval.
const BUMP: &str = "text('asked'); const { structuredContent } = await MCP.probe.bumpCounter({ key: 'a' }); \
                    text('answered'); return structuredContent.count";

/// A door to a probe whose counter needs an approval, which may take `seconds`.
fn asking(room: &Room, seconds: u64) -> Result<Door> {
    room.door(&room.configuration(&json!({
        "tools": {
            "codeMode": { "enabled": true, "timeoutMs": SHORT_MS },
            "approvals": { "ask": ["bump_counter"], "timeoutSeconds": seconds },
        },
        "mcp": { "servers": { "probe": room.probe(LOG, &[])? } },
    }))?)
}

/// The questions that wait, as another process of the same user sees them.
fn questions(room: &Room) -> Result<Vec<Value>> {
    let listed = room.run(["approvals", "--json"], "")?;
    ensure!(
        listed.code == Some(0),
        "`approvals` ended with {:?}: {}",
        listed.code,
        listed.stderr
    );
    serde_json::from_str(&listed.stdout).with_context(|| format!("no list: {}", listed.stdout))
}

/// The only question that waits.
pub(super) fn question(room: &Room) -> Result<Value> {
    let mut all = questions(room)?;
    ensure!(all.len() == 1, "expected one question: {all:?}");
    all.pop().context("no question")
}

/// Answers from another process, by the beginning of the question's id.
pub(super) fn answer(room: &Room, question: &Value, arguments: &[&str]) -> Result<()> {
    let id = question["id"].as_str().context("a question without an id")?;
    let beginning = id.get(..24).unwrap_or(id);
    let all: Vec<&str> = ["approvals"]
        .into_iter()
        .chain(arguments.iter().copied())
        .chain([beginning])
        .collect();
    let answered = room.run(&all, "")?;
    ensure!(
        answered.code == Some(0),
        "{all:?} ended with {:?}: {}",
        answered.code,
        answered.stderr
    );
    let late = room.run(&all, "")?;
    ensure!(
        late.code == Some(1) && late.stderr.contains("no approval"),
        "a question was answered twice: {late:?}"
    );
    Ok(())
}

fn allowed(room: &Room) -> Result<()> {
    let mut door = asking(room, 120)?;
    ensure!(questions(room)?.is_empty(), "a question before there was a call");
    let first = door.exec(BUMP)?;
    expect_status(&first, "waiting")?;
    expect_equal(&first["reason"], &json!("pending_tools"))?;
    expect_equal(
        &first["pendingToolCalls"][0]["tool"],
        &json!("MCP.probe.bumpCounter"),
    )?;
    let asked = question(room)?;
    expect_equal(&asked["tool"], &json!("mcp:probe:bump_counter"))?;
    expect_equal(&asked["arguments"], &json!({ "key": "a" }))?;
    expect_equal(&asked["cell"]["source"], &json!(BUMP))?;
    let again = door.wait(&first["runId"])?;
    expect_status(&again, "waiting")?;
    expect_equal(&again["runId"], &first["runId"])?;
    expect_equal(&question(room)?["id"], &asked["id"])?;
    ensure!(
        calls(room, LOG, "bump_counter") == 0,
        "the call did not wait for its approval"
    );
    answer(room, &asked, &["allow"])?;
    let last = door.wait(&first["runId"])?;
    let last = door.settle(last)?;
    expect_status(&last, "completed")?;
    expect_equal(&last["value"], &json!(1))?;
    expect_equal(&last["output"], &json!([{ "type": "text", "text": "answered" }]))?;
    ensure!(
        calls(room, LOG, "bump_counter") == 1,
        "an allowed call was not made once"
    );
    // The answer was for one call.
    expect_status(&door.exec(BUMP)?, "waiting")?;
    question(room)?;
    door.close()?;
    ensure!(questions(room)?.is_empty(), "a question outlived its process");
    ensure!(
        calls(room, LOG, "bump_counter") == 1,
        "a call ran without an answer"
    );
    Ok(())
}

fn refused(room: &Room) -> Result<()> {
    for (name, seconds) in [("a person", 120), ("nobody", 1)] {
        let mut door = asking(room, seconds)?;
        let first = door.exec(
            "try { await MCP.probe.bumpCounter({ key: 'a' }); return 'called' } \
             catch (error) { return [error instanceof Error, error.code, error.details.deniedReason, error.message] }",
        )?;
        expect_status(&first, "waiting")?;
        if name == "a person" {
            answer(room, &question(room)?, &["deny"])?;
        }
        let next = door.wait(&first["runId"])?;
        let mut last = door.settle(next)?;
        expect_status(&last, "completed")?;
        let message = last["value"]
            .as_array_mut()
            .and_then(Vec::pop)
            .unwrap_or_default();
        expect_equal(&last["value"], &json!([true, "blocked", "plugin-approval"]))?;
        ensure!(
            message.as_str().is_some_and(|message| {
                message.starts_with("Tool \"mcp:probe:bump_counter\" was blocked before execution:")
            }),
            "{name}: {message}"
        );
        ensure!(questions(room)?.is_empty(), "{name}: the question is still there");
        door.close()?;
    }
    ensure!(calls(room, LOG, "bump_counter") == 0, "a refused call was made");
    Ok(())
}

fn remembered(room: &Room) -> Result<()> {
    let mut door = asking(room, 120)?;
    let first = door.exec(BUMP)?;
    answer(room, &question(room)?, &["allow", "--always"])?;
    let last = door.wait(&first["runId"])?;
    expect_equal(&door.settle(last)?["value"], &json!(1))?;
    let second = door.exec(BUMP)?;
    ensure!(questions(room)?.is_empty(), "the answer was not remembered");
    expect_equal(&door.settle(second)?["value"], &json!(2))?;
    door.close()?;
    // Another process remembers nothing. A program that does not wait for the call ends its question.
    let mut door = asking(room, 120)?;
    let left = door.exec("MCP.probe.bumpCounter({ key: 'a' }); return 'left'")?;
    expect_status(&left, "completed")?;
    expect_equal(&left["warnings"][0]["kind"], &json!("cancelled"))?;
    process::until(LIMIT, "the end of the question", || {
        questions(room).is_ok_and(|all| all.is_empty()).then_some(())
    })?;
    door.close()?;
    ensure!(
        calls(room, LOG, "bump_counter") == 2,
        "a call ran without an answer"
    );
    Ok(())
}
