//! Step 15: whatever ends a cell leaves nothing of it.

use std::{sync::mpsc, thread};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{
    super::{
        stage::{LOG, Stage},
        talk::{Outcome, Spoken, Talk},
    },
    client_tools,
};
use crate::{
    e2e::room::{LIMIT, expect_code, expect_equal},
    http::Request,
    model::{Reply, Turn},
    process,
};

/// A cell that waits for the client.
const ASKING: &str = "return await tools.select_file({ prompt: 'which one?' })";

/// A cell that waits for a server longer than anybody wants to.
const ENDLESS: &str = "return await MCP.probe.slowValue({ ms: 3600000 })";

pub(super) fn timeout_and_abort(stage: &Stage<'_>) -> Result<()> {
    timeout(stage).context("timeout")?;
    deleted(stage).context("a turn that is deleted")?;
    for streamed in [true, false] {
        vanished(stage, streamed).with_context(|| format!("a client that vanishes, streamed: {streamed}"))?;
    }
    metrics(stage).context("metrics")
}

fn timeout(stage: &Stage<'_>) -> Result<()> {
    stage.model.reset();
    stage.model.say(Reply::call(
        "exec",
        json!({ "code": "for (;;) try { while (true) {} } catch {}" }),
    ));
    stage.model.then(|seen| {
        expect_code(&seen.last()?.json()?, "timeout")?;
        Ok(Reply::text("It took too long."))
    });
    let spoken = stage.ask(&[])?;
    expect_equal(&json!(spoken.text), &json!("It took too long."))?;
    stage.model.finish()?;
    stage.serve.quiet()
}

/// A turn that waits for its client.
fn asking(stage: &Stage<'_>) -> Result<Spoken> {
    stage.model.reset();
    stage.model.say(Reply::call("exec", json!({ "code": ASKING })));
    let spoken = stage.ask(&client_tools())?;
    ensure!(
        spoken.calls.len() == 1,
        "the client was not asked once: {spoken:?}"
    );
    stage.model.finish()?;
    Ok(spoken)
}

/// Answering now comes too late.
fn too_late(stage: &Stage<'_>, asked: &Spoken) -> Result<()> {
    let call = asked.calls.first().context("no call")?;
    let answered = stage.talk.answer_body(asked, &[(&call.id, "\"late\"")]);
    expect_refused(
        &stage.talk.send(&stage.serve, &answered)?,
        400,
        "unknown_tool_call",
    )?;
    let asked = stage
        .model
        .finish()
        .context("the model was asked after the end of its turn")?;
    expect_equal(&json!(asked.len()), &json!(0))
}

fn deleted(stage: &Stage<'_>) -> Result<()> {
    let asked = asking(stage)?;
    let runs = stage.serve.runs()?;
    let run = runs.only()?["id"]
        .as_str()
        .context("a run without an id")?
        .to_owned();
    ensure!(runs.suspended == 1 && runs.live == 0, "another state: {runs:?}");
    let path = format!("/runs/{run}");
    let gone = stage.serve.ask(Request::new("DELETE", &path))?;
    ensure!(
        (200..300).contains(&gone.status),
        "the turn was not deleted: {gone:?}"
    );
    stage.serve.quiet()?;
    let again = stage.serve.ask(Request::new("DELETE", &path))?;
    again.expect(404)?;
    too_late(stage, &asked)
}

/// The turn runs, its cell is suspended with a call under way, and the model thinks: then the client goes.
fn vanished(stage: &Stage<'_>, streamed: bool) -> Result<()> {
    let cancelled = || {
        stage
            .room
            .events(LOG)
            .iter()
            .filter(|event| event["event"] == "cancelled")
            .count()
    };
    let before = cancelled();
    stage.model.reset();
    stage.model.say(Reply::call("exec", json!({ "code": ENDLESS })));
    stage.model.then(|seen| {
        seen.cell("waiting")?;
        Ok(Reply::Stalled(
            Turn::text("Let me think about that for a while."),
            3,
        ))
    });
    let talk = Talk {
        streamed,
        ..stage.talk.clone()
    };
    let connection = stage
        .serve
        .begin(talk.request(&talk.body("Go on.", &client_tools())))?;
    stage.blaming(stage.model.asked(2, LIMIT))?;
    let runs = stage.serve.runs()?;
    expect_equal(
        &json!([runs.only()?["state"], runs.suspended]),
        &json!(["running", 1]),
    )?;
    drop(connection);
    stage.model.left(1, LIMIT).context("the provider is not told")?;
    stage.serve.quiet()?;
    process::until(LIMIT, "the cancellation of the call", || {
        (cancelled() > before).then_some(())
    })?;
    stage.model.finish()?;
    Ok(())
}

/// Numbers that go up and come down again.
fn metrics(stage: &Stage<'_>) -> Result<()> {
    for name in [
        "codecell_turns_active",
        "codecell_turns_waiting",
        "codecell_cells_suspended",
        "codecell_vms_live",
    ] {
        expect_equal(&json!(stage.serve.metric(name, "")?), &json!(0.0)).context(name)?;
    }
    for (name, label, least) in [
        ("codecell_turns_total", String::new(), 5.0),
        ("codecell_nested_calls_total", String::new(), 4.0),
        (
            "codecell_provider_requests_total",
            format!("api=\"{}\"", stage.api.name()),
            9.0,
        ),
        ("codecell_http_requests_total", "status=\"200\"".to_owned(), 5.0),
        ("codecell_process_resident_bytes", String::new(), 1_000_000.0),
    ] {
        let counted = stage.serve.metric(name, &label)?;
        ensure!(
            counted >= least,
            "`{name}` with `{label}` is {counted}, not {least} or more"
        );
    }
    Ok(())
}

/// With snapshots that live for a second.
pub(super) fn expiry(stage: &Stage<'_>) -> Result<()> {
    let asked = asking(stage)?;
    stage
        .serve
        .quiet()
        .context("a cell that waits for its client too long")?;
    too_late(stage, &asked)?;
    let (open, gate) = mpsc::channel();
    stage.model.say(Reply::call(
        "exec",
        json!({ "code": "await yield_control('later'); return 1" }),
    ));
    stage.model.then(move |seen| {
        let waiting = seen.cell("waiting")?;
        // The model answers when the snapshot is gone.
        gate.recv_timeout(LIMIT)?;
        Ok(Reply::call("wait", json!({ "runId": waiting["runId"] })))
    });
    stage.model.then(|seen| {
        let result = seen.last()?.json()?;
        expect_code(&result, "invalid_input")?;
        Ok(Reply::text(result["error"].to_string()))
    });
    let spoken = thread::scope(|scope| {
        let asking = scope.spawn(|| stage.ask(&[]));
        let gone = stage.model.asked(2, LIMIT).and_then(|()| {
            process::until(LIMIT, "the expiry of the snapshot", || {
                let runs = stage.serve.runs().ok()?;
                (runs.suspended == 0 && runs.live == 0).then_some(())
            })
        });
        let _ = open.send(());
        let spoken = asking.join().map_err(|_| anyhow::anyhow!("asking panicked"))?;
        gone.and(spoken)
    })?;
    ensure!(
        spoken.text.contains("expired") || spoken.text.contains("unknown"),
        "the wait was refused with {}",
        spoken.text
    );
    stage.model.finish()?;
    stage.serve.quiet()
}

/// The request was refused with this status and this code.
pub(in crate::e2e::agent) fn expect_refused(outcome: &Outcome, status: u16, code: &str) -> Result<()> {
    let Err(refusal) = outcome else {
        anyhow::bail!("expected `{code}`, got {outcome:?}");
    };
    expect_equal(
        &json!([refusal.status, refusal.error["code"]]),
        &json!([status, code]),
    )
    .with_context(|| refusal.error.to_string())
}
