//! Providers that fail.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{
    stage::Stage,
    talk::{Outcome, Refusal, Talk},
};
use crate::{
    e2e::room::expect_equal,
    model::{Call, Reply, Turn},
};

/// Asks for a turn from a model that always answers so, in pieces and at once.
fn attempts(stage: &Stage<'_>, reply: &Reply, look: impl Fn(bool, Outcome) -> Result<()>) -> Result<()> {
    for streamed in [true, false] {
        let talk = Talk {
            streamed,
            ..stage.talk.clone()
        };
        let said = reply.clone();
        stage.model.otherwise(move |_| Ok(said.clone()));
        let outcome = talk.send(&stage.serve, &talk.body("Hi.", &[]))?;
        stage.model.finish()?;
        look(streamed, outcome)
            .with_context(|| format!("streamed: {streamed}, the model answers {reply:?}"))?;
    }
    Ok(())
}

fn refused(outcome: Outcome) -> Result<Refusal> {
    match outcome {
        Ok(spoken) => anyhow::bail!("the turn went well: {spoken:?}"),
        Err(refusal) => Ok(refusal),
    }
}

pub(super) fn statuses(stage: &Stage<'_>) -> Result<()> {
    for (theirs, ours) in [
        (400, 400),
        (413, 400),
        (422, 400),
        (401, 502),
        (403, 502),
        (404, 502),
        (500, 502),
        (503, 502),
    ] {
        attempts(
            stage,
            &Reply::refused(theirs, "the provider says no"),
            |_, outcome| {
                let refusal = refused(outcome)?;
                expect_equal(&json!(refusal.status), &json!(ours))?;
                let message = refusal.error["message"].as_str().unwrap_or_default();
                ensure!(
                    !message.contains("e2e-key-of-the-model"),
                    "the key is in `{message}`"
                );
                Ok(())
            },
        )?;
    }
    let patience = Reply::Refused {
        status: 429,
        retry_after: Some("120"),
        message: "slow down",
    };
    attempts(stage, &patience, |_, outcome| {
        let refusal = refused(outcome)?;
        expect_equal(
            &json!([refusal.status, refusal.retry_after]),
            &json!([429, "120"]),
        )
    })
}

/// The first frames of a turn hold some of its text.
pub(super) fn cut(stage: &Stage<'_>) -> Result<()> {
    let said = Turn::text("Half of this is never said, because the line is dead.");
    attempts(stage, &Reply::Cut(said, 5), |streamed, outcome| {
        let refusal = refused(outcome)?;
        expect_equal(&json!(refusal.status), &json!(if streamed { 200 } else { 502 }))?;
        ensure!(refusal.error["message"].is_string(), "no message: {refusal:?}");
        ensure!(
            !streamed || refusal.before.starts_with("Half"),
            "what was said before is lost: {refusal:?}"
        );
        Ok(())
    })?;
    // Half a call is no call.
    let call = Turn::calls([Call::new(
        "exec",
        json!({ "code": "return await MCP.probe.bumpCounter({ key: 'cut' })" }),
    )]);
    attempts(stage, &Reply::Cut(call, 4), |_, outcome| {
        refused(outcome).map(drop)
    })?;
    let ran = stage
        .room
        .events(super::LOG)
        .into_iter()
        .filter(|event: &Value| event["tool"] == "bump_counter")
        .count();
    ensure!(ran == 0, "half a call was run");
    Ok(())
}

pub(super) fn nonsense(stage: &Stage<'_>) -> Result<()> {
    for (reply, status) in [(Reply::Garbage, 502), (Reply::Hang, 504)] {
        attempts(stage, &reply, |_, outcome| {
            expect_equal(&json!(refused(outcome)?.status), &json!(status))
        })?;
    }
    Ok(())
}
