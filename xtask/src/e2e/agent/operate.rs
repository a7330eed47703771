//! What an operator does with `codecell serve`.

use std::thread;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    serve::Serve,
    stage::{LOG, Stage},
    talk::{Surface, Talk},
};
use crate::{
    e2e::{
        Steps,
        room::{LIMIT, Room, calls, expect_equal},
    },
    http::Request,
    model::{Api, Reply},
    process,
};

pub(in crate::e2e) fn play(steps: &mut Steps) {
    steps.play(
        "serve refuses to listen where others can reach it without a token",
        exposed,
    );
    steps.play("serve lists, shows, resets and deletes sessions", sessions);
    steps.play(
        "serve lets a person answer an approval over HTTP, once",
        approvals,
    );
    steps.play("serve says which tools a request has, if it is told to", payload);
}

/// A gateway with the probe and these settings of `tools`.
fn stage<'a>(room: &'a Room, tools: &Value) -> Result<Stage<'a>> {
    let talk = Talk {
        surface: Surface::Chat,
        streamed: false,
        session: "e2e:operated".to_owned(),
        model: "codecell".to_owned(),
    };
    let document = json!({ "tools": tools, "mcp": { "servers": { "probe": room.probe(LOG, &[])? } } });
    Stage::open(room, Api::Chat, talk, &document)
}

fn exposed(room: &Room) -> Result<()> {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let mut command = room.codecell(["serve", "--listen", address]);
        let finished = process::run(&mut command, "", LIMIT)?;
        ensure!(
            finished.code.is_some_and(|code| code != 0) && finished.stderr.contains("CODECELL_TOKEN"),
            "{address}: {finished:?}"
        );
        ensure!(finished.stdout.is_empty(), "{address}: {}", finished.stdout);
    }
    Ok(())
}

fn sessions(room: &Room) -> Result<()> {
    let stage = stage(room, &json!({}))?;
    for session in ["e2e:one", "e2e:two"] {
        stage.model.say(Reply::text("Hello."));
        let talk = Talk {
            session: session.to_owned(),
            ..stage.talk.clone()
        };
        talk.ask(&stage.serve, "Hi.", &[])?;
    }
    let listed = |serve: &Serve| -> Result<Vec<(String, bool)>> {
        let listed = serve.get("/sessions")?;
        let sessions = listed["sessions"].as_array().context("no list of sessions")?;
        let mut keys: Vec<(String, bool)> = sessions
            .iter()
            .map(|session| {
                let key = session["key"].as_str().unwrap_or_default().to_owned();
                (key, session["active"] == true)
            })
            .collect();
        keys.sort();
        Ok(keys)
    };
    let (one, two) = ("e2e:one".to_owned(), "e2e:two".to_owned());
    let both = [(one.clone(), true), (two.clone(), true)];
    ensure!(
        listed(&stage.serve)? == both,
        "other sessions: {:?}",
        listed(&stage.serve)?
    );
    let shown = stage.serve.get("/sessions/e2e:one")?.to_string();
    ensure!(
        shown.contains("Hi.") && shown.contains("Hello."),
        "the session holds {shown}"
    );
    let did = |request: Request| -> Result<()> {
        let answer = stage.serve.ask(request)?;
        ensure!((200..300).contains(&answer.status), "refused: {answer:?}");
        Ok(())
    };
    did(Request::post("/sessions/e2e:one/reset", &json!({})))?;
    did(Request::new("DELETE", "/sessions/e2e:two"))?;
    let left = listed(&stage.serve)?;
    ensure!(
        !left.iter().any(|(key, _)| *key == two),
        "the deleted session is there: {left:?}"
    );
    let shown = stage.serve.ask(Request::get("/sessions/e2e:one"))?;
    ensure!(
        !shown.text.contains("Hello."),
        "after the reset there is {}",
        shown.text
    );
    for request in [
        Request::get("/sessions/e2e:nobody"),
        Request::new("DELETE", "/sessions/e2e:two"),
        Request::get("/trajectory/e2e:nobody"),
    ] {
        stage.serve.ask(request)?.expect(404)?;
    }
    stage.serve.stop()
}

fn approvals(room: &Room) -> Result<()> {
    let stage = stage(
        room,
        &json!({
            "codeMode": { "enabled": true, "timeoutMs": 300 },
            "approvals": { "ask": ["bump_counter"] }
        }),
    )?;
    for (decision, expected) in [("allow-once", json!(1)), ("deny", json!("blocked"))] {
        let code = "try { return (await MCP.probe.bumpCounter({ key: 'a' })).structuredContent.count } \
                    catch (error) { return error.code }";
        stage.model.say(Reply::call("exec", json!({ "code": code })));
        stage.model.otherwise(|seen| {
            let result = seen.last()?.json()?;
            Ok(match result["status"].as_str() {
                Some("waiting") => Reply::call("wait", json!({ "runId": result["runId"] })),
                _ => Reply::text(seen.value()?.to_string()),
            })
        });
        let spoken = thread::scope(|scope| {
            let asking = scope.spawn(|| stage.ask(&[]));
            let answered = answer(&stage, decision);
            let spoken = asking.join().map_err(|_| anyhow::anyhow!("asking panicked"))?;
            answered.and(spoken)
        })?;
        expect_equal(&json!(spoken.text), &json!(expected.to_string())).context(decision)?;
        stage.model.finish()?;
    }
    ensure!(calls(room, LOG, "bump_counter") == 1, "a denied call was made");
    let nobody = json!({ "decision": "deny" });
    let unknown = stage.serve.ask(Request::post("/approvals/no-such-id", &nobody))?;
    unknown.expect(404)?;
    stage.serve.stop()
}

/// Waits for the one question, and decides it.
fn answer(stage: &Stage<'_>, decision: &str) -> Result<()> {
    let question = process::until(LIMIT, "the question", || {
        let listed = stage.serve.get("/approvals").ok()?;
        listed["approvals"].get(0).cloned()
    })?;
    expect_equal(&question["tool"], &json!("mcp:probe:bump_counter"))?;
    let id = question["id"].as_str().context("a question without an id")?;
    let decide = |decision: &str| {
        stage.serve.ask(Request::post(
            format!("/approvals/{id}"),
            &json!({ "decision": decision }),
        ))
    };
    decide("perhaps")?.expect(400)?;
    let decided = decide(decision)?;
    ensure!((200..300).contains(&decided.status), "not decided: {decided:?}");
    let again = decide("allow-always")?;
    ensure!(
        again.status == 409 || again.status == 404,
        "decided twice: {again:?}"
    );
    Ok(())
}

fn payload(room: &Room) -> Result<()> {
    let document = json!({ "tools": { "codeMode": true } });
    let talk = Talk {
        surface: Surface::Responses,
        streamed: false,
        session: "e2e:payload".to_owned(),
        model: "codecell".to_owned(),
    };
    for variable in ["CODECELL_DEBUG_MODEL_PAYLOAD", "OPENCLAW_DEBUG_MODEL_PAYLOAD"] {
        let stage = Stage::open_with(
            room,
            Api::Responses,
            talk.clone(),
            &document,
            &[(variable, "tools")],
        )?;
        stage.model.say(Reply::text("Fine."));
        stage.ask(&[])?;
        process::until(LIMIT, "the line about the request", || {
            stage
                .serve
                .stderr()
                .contains("count=2 names=exec,wait")
                .then_some(())
        })
        .with_context(|| format!("{variable}: {}", stage.serve.stderr()))?;
        ensure!(
            !stage.serve.stderr().contains(super::serve::MODEL_KEY),
            "the key is in the log: {}",
            stage.serve.stderr()
        );
        stage.serve.stop()?;
    }
    Ok(())
}
