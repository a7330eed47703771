//! How turns end that nobody waits for, and what a gateway does that is told to end.

use std::{sync::mpsc, thread};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::super::{
    stage::{LOG, Stage},
    talk::Talk,
};
use crate::{
    e2e::room::{LIMIT, expect_equal},
    model::{Reply, Turn},
    process,
};

pub(super) fn vanished(stage: &Stage<'_>) -> Result<()> {
    for streamed in [true, false] {
        let talk = Talk {
            streamed,
            ..stage.talk.clone()
        };
        let begin = || stage.serve.begin(talk.request(&talk.body("Go on.", &[])));
        // While a program runs that would take a minute.
        stage
            .model
            .say(Reply::call("exec", json!({ "code": "while (true) {}" })));
        let connection = begin()?;
        process::until(LIMIT, "the life of a VM", || {
            (stage.serve.runs().ok()?.live == 1).then_some(())
        })?;
        drop(connection);
        stage.serve.quiet().context("a program runs on")?;
        // While a server works.
        let cancelled = || {
            stage
                .room
                .events(LOG)
                .iter()
                .filter(|event| event["event"] == "cancelled")
                .count()
        };
        let calls = || crate::e2e::room::calls(stage.room, LOG, "slow_value");
        let before = (cancelled(), calls());
        stage.model.say(Reply::call(
            "exec",
            json!({ "code": "return await MCP.probe.slowValue({ ms: 3600000 })" }),
        ));
        let connection = begin()?;
        process::until(LIMIT, "the call of the slow tool", || {
            (calls() > before.1).then_some(())
        })?;
        drop(connection);
        process::until(LIMIT, "the cancellation of the call", || {
            (cancelled() > before.0).then_some(())
        })?;
        stage.serve.quiet()?;
        // While the model speaks.
        stage.model.reset();
        stage
            .model
            .say(Reply::Stalled(Turn::text("This is a long story."), 4));
        let connection = begin()?;
        stage.model.asked(1, LIMIT)?;
        drop(connection);
        stage.model.left(1, LIMIT).context("the provider is not told")?;
        stage.serve.quiet()?;
        stage.model.finish()?;
    }
    Ok(())
}

pub(super) fn drained(stage: Stage<'_>) -> Result<()> {
    let (open, gate) = mpsc::channel();
    stage.model.then(move |_| {
        gate.recv_timeout(LIMIT)?;
        Ok(Reply::text("In time."))
    });
    let spoken = thread::scope(|scope| {
        let asking = scope.spawn(|| stage.ask(&[]));
        let told = stage.model.asked(1, LIMIT).and_then(|()| stage.serve.terminate());
        let closed = told.and_then(|()| {
            process::until(LIMIT, "the end of new turns", || {
                stage.serve.refuses().then_some(())
            })
        });
        let _ = open.send(());
        let spoken = asking.join().map_err(|_| anyhow::anyhow!("asking panicked"))?;
        closed.and(spoken)
    })?;
    expect_equal(&json!(spoken.text), &json!("In time."))?;
    stage.serve.ended()
}

pub(super) fn hurried(stage: Stage<'_>) -> Result<()> {
    let talk = Talk {
        streamed: true,
        ..stage.talk.clone()
    };
    stage
        .model
        .say(Reply::Stalled(Turn::text("This is a long story."), 6));
    let body = talk.body("Tell me.", &[]);
    // The head comes with the first words.
    let begun = stage.serve.open(talk.request(&body))?;
    stage.serve.terminate()?;
    process::until(LIMIT, "the end of new turns", || {
        stage.serve.refuses().then_some(())
    })?;
    stage.serve.terminate()?;
    let outcome = talk.read(begun, &body)?;
    let refusal = outcome.err().context("a turn that could not end ended well")?;
    ensure!(refusal.status == 200, "not told in the stream: {refusal:?}");
    stage.serve.ended()
}
