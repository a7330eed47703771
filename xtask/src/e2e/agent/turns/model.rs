//! Models that make mistakes.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::super::stage::Stage;
use crate::{
    e2e::room::expect_code,
    model::{Call, Reply, Turn},
};

pub(super) fn bad_calls(stage: &Stage<'_>) -> Result<()> {
    for (call, told) in [
        (Call::raw("exec", "{\"code\": \"return"), "arguments"),
        (Call::raw("exec", "[1]"), "arguments"),
        (Call::raw("exec", ""), "code"),
        (Call::new("exec", json!({ "code": 5 })), "invalid_input"),
        (Call::new("exec", json!({})), "invalid_input"),
        (
            Call::new("wait", json!({ "runId": "no-such-run" })),
            "invalid_input",
        ),
        (Call::new("wait", json!({})), "invalid_input"),
        (
            Call::new("echo_value", json!({ "value": 1 })),
            "Tool echo_value not found",
        ),
    ] {
        let about = format!("{call:?}");
        stage.model.say(Reply::Turn(Turn::calls([
            call,
            Call::new("exec", json!({ "code": "return 'meanwhile'" })),
        ])));
        stage.model.then(|seen| {
            let [bad, good] = seen.results.as_slice() else {
                anyhow::bail!("expected two results: {:?}", seen.results);
            };
            ensure!(
                good.json()?["value"] == "meanwhile",
                "the other call came to {good:?}"
            );
            Ok(Reply::text(bad.text.clone()))
        });
        let spoken = stage.ask(&[]).with_context(|| about.clone())?;
        ensure!(
            spoken.text.contains(told),
            "{about}: the model was told `{}`",
            spoken.text
        );
        stage.model.finish()?;
    }
    Ok(())
}

pub(super) fn failing_cells(stage: &Stage<'_>) -> Result<()> {
    for (code, expected) in [
        ("return 1 +", "invalid_input"),
        ("import fs from 'fs'", "invalid_input"),
        ("throw new Error('on purpose')", "internal_error"),
        (
            "const all = []; for (;;) all.push(new Array(1000000).fill(1.5))",
            "internal_error",
        ),
        ("return 'x'.repeat(1000000)", "output_limit_exceeded"),
        ("await new Promise(() => {})", "internal_error"),
    ] {
        stage.model.say(Reply::call("exec", json!({ "code": code })));
        stage.model.then(move |seen| {
            expect_code(&seen.last()?.json()?, expected)?;
            Ok(Reply::text("I see."))
        });
        let spoken = stage.ask(&[]).with_context(|| code.to_owned())?;
        ensure!(spoken.text == "I see.", "`{code}` ended with {spoken:?}");
        stage.model.finish()?;
    }
    Ok(())
}
