//! Answers of clients, and whose turn it is.

use std::{sync::mpsc, thread};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    super::{
        seed::expect_refused,
        stage::Stage,
        talk::{ClientTool, Outcome, Spoken, Surface, Talk},
    },
    document,
};
use crate::{
    e2e::room::{LIMIT, expect_equal},
    http::Request,
    model::Reply,
};

fn tools() -> [ClientTool; 1] {
    [ClientTool {
        name: "ask_person",
        description: "Asks the person at the screen.",
        parameters: json!({ "type": "object", "properties": { "question": { "type": "string" } } }),
    }]
}

/// A turn whose cell waits for answers to as many questions.
fn waiting(stage: &Stage<'_>, questions: usize) -> Result<Spoken> {
    let code = format!(
        "return await Promise.all(Array.from({{ length: {questions} }}, (_, n) => tools.ask_person({{ question: String(n) }})))"
    );
    stage.model.say(Reply::call("exec", json!({ "code": code })));
    let spoken = stage.ask(&tools())?;
    ensure!(spoken.calls.len() == questions, "asked otherwise: {spoken:?}");
    stage.model.finish()?;
    Ok(spoken)
}

/// The model says what the cell came to.
fn tell(stage: &Stage<'_>) {
    stage
        .model
        .then(|seen| Ok(Reply::text(seen.value()?.to_string())));
}

pub(super) fn twice(stage: &Stage<'_>) -> Result<()> {
    for _ in 0..5 {
        let asked = waiting(stage, 1)?;
        let id = &asked.calls.first().context("no call")?.id;
        tell(stage);
        let outcomes: Result<Vec<Outcome>> = thread::scope(|scope| {
            let clients = ["\"one\"", "\"two\""].map(|output| {
                let body = stage.talk.answer_body(&asked, &[(id, output)]);
                scope.spawn(move || stage.talk.send(&stage.serve, &body))
            });
            clients
                .into_iter()
                .map(|client| client.join().map_err(|_| anyhow::anyhow!("a client panicked"))?)
                .collect()
        });
        let (right, wrong): (Vec<Outcome>, Vec<Outcome>) = outcomes?.into_iter().partition(Result::is_ok);
        let ([Ok(spoken)], [late]) = (right.as_slice(), wrong.as_slice()) else {
            anyhow::bail!("not one of each: {right:?}, {wrong:?}");
        };
        ensure!(
            [r#"["one"]"#, r#"["two"]"#].contains(&spoken.text.as_str()),
            "another answer: {spoken:?}"
        );
        expect_refused(late, 409, "tool_call_already_answered")?;
        let later = stage
            .talk
            .send(&stage.serve, &stage.talk.answer_body(&asked, &[(id, "3")]))?;
        expect_refused(&later, 409, "tool_call_already_answered")?;
        stage.model.finish()?;
    }
    Ok(())
}

pub(super) fn incomplete(stage: &Stage<'_>) -> Result<()> {
    let asked = waiting(stage, 2)?;
    let [one, two] = asked.calls.as_slice() else {
        anyhow::bail!("not two calls");
    };
    let unknown = format!("call_{}", "0".repeat(32));
    for (outputs, code) in [
        (&[(one.id.as_str(), "1")][..], "missing_tool_output"),
        (&[(unknown.as_str(), "1")], "unknown_tool_call"),
        (
            &[(one.id.as_str(), "1"), (unknown.as_str(), "2")],
            "unknown_tool_call",
        ),
    ] {
        let outcome = stage
            .talk
            .send(&stage.serve, &stage.talk.answer_body(&asked, outputs))?;
        expect_refused(&outcome, 400, code)?;
        let runs = stage.serve.runs()?;
        expect_equal(
            &json!([runs.only()?["state"], runs.suspended]),
            &json!(["waiting_for_client", 1]),
        )?;
    }
    tell(stage);
    let spoken = stage.answer(&asked, &[(&one.id, "1"), (&two.id, "{\"n\":2}")])?;
    expect_equal(&json!(spoken.text), &json!(r#"[1,{"n":2}]"#))?;
    stage.model.finish()?;
    Ok(())
}

pub(super) fn sessions(stage: &Stage<'_>) -> Result<()> {
    let body = stage.talk.body("And now?", &tools());
    named_by_metadata_or_anew(stage)?;
    // A turn that runs.
    let (open, gate) = mpsc::channel();
    stage.model.then(move |_| {
        gate.recv_timeout(LIMIT)?;
        Ok(Reply::text("At last."))
    });
    let (first, busy) = thread::scope(|scope| {
        let first = scope.spawn(|| stage.ask(&[]));
        let busy = stage
            .model
            .asked(1, LIMIT)
            .and_then(|()| stage.talk.send(&stage.serve, &body));
        let _ = open.send(());
        (first.join(), busy)
    });
    expect_refused(&busy?, 409, "session_busy")?;
    let first = first.map_err(|_| anyhow::anyhow!("asking panicked"))??;
    expect_equal(&json!(first.text), &json!("At last."))?;
    stage.model.finish()?;
    // A turn that waits.
    let asked = waiting(stage, 1)?;
    stage.model.say(Reply::text("Something else."));
    let other = stage.talk.ask(&stage.serve, "Never mind.", &[])?;
    expect_equal(&json!(other.text), &json!("Something else."))?;
    stage.serve.quiet()?;
    let id = &asked.calls.first().context("no call")?.id;
    let late = stage
        .talk
        .send(&stage.serve, &stage.talk.answer_body(&asked, &[(id, "1")]))?;
    expect_refused(&late, 400, "unknown_tool_call")?;
    stage.model.finish()?;
    Ok(())
}

/// A session may be named in the metadata; where none is named, it is a new one.
fn named_by_metadata_or_anew(stage: &Stage<'_>) -> Result<()> {
    let mut fresh = Vec::new();
    for named in [Some("e2e:named"), None, None] {
        let mut body = stage.talk.body("Hi.", &[]);
        if let Some(name) = named {
            body["metadata"] = json!({ "session": name });
        }
        stage.model.say(Reply::text("Hi."));
        let answer = stage.serve.ask(Request::post(stage.talk.surface.path(), &body))?;
        ensure!(answer.status == 200, "{answer:?}");
        let session = answer.head.header("x-codecell-session").context("no session")?;
        match named {
            Some(name) => ensure!(session == name, "answered in `{session}`"),
            None => fresh.push(session.to_owned()),
        }
    }
    ensure!(
        fresh
            .iter()
            .all(|session| session.starts_with("agent:main:http:"))
            && fresh.first() != fresh.get(1),
        "not two new sessions: {fresh:?}"
    );
    stage.model.finish()?;
    Ok(())
}

pub(super) fn restarted(stage: Stage<'_>) -> Result<()> {
    let talk = Talk {
        session: "e2e:turns:kept".to_owned(),
        ..stage.talk.clone()
    };
    stage.model.say(Reply::text("My favourite number is 7."));
    let first = talk.ask(&stage.serve, "Name a number.", &[])?;
    stage.model.finish()?;
    let document = document(stage.room)?;
    let stage = stage.restart(&document)?;
    let mut body = talk.body("Which was it?", &[]);
    match talk.surface {
        Surface::Chat => {
            body["messages"] = json!([
                { "role": "user", "content": "Name a number." },
                { "role": "assistant", "content": first.text },
                { "role": "user", "content": "Which was it?" }
            ]);
        }
        Surface::Responses => body["previous_response_id"] = json!(first.id),
    }
    stage.model.say(Reply::text("It was 7."));
    let second = talk.send(&stage.serve, &body)?;
    ensure!(
        second.as_ref().is_ok_and(|spoken| spoken.text == "It was 7."),
        "no second turn: {second:?}"
    );
    let seen = stage.model.finish()?;
    let said = &seen.first().context("the model was not asked")?.messages;
    let said: Vec<Value> = said.iter().map(|said| json!([said.role, said.text])).collect();
    expect_equal(
        &json!(said),
        &json!([
            ["user", "Name a number."],
            ["assistant", "My favourite number is 7."],
            ["user", "Which was it?"]
        ]),
    )?;
    if talk.surface == Surface::Responses {
        body["previous_response_id"] = json!("resp_nobody");
        expect_refused(
            &talk.send(&stage.serve, &body)?,
            400,
            "previous_response_not_found",
        )?;
    }
    stage.serve.stop()
}
