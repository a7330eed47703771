//! Requests that never become a turn.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    super::{
        seed::expect_refused,
        stage::Stage,
        talk::{Surface, Talk, refusal},
    },
    MAX_BODY,
};
use crate::{
    e2e::room::expect_equal,
    http::{Answer, Request},
};

/// The answer is an error of this status and, where one is given, this code.
fn expect_error(answer: &Answer, status: u16, code: &str) -> Result<()> {
    let refusal = refusal(answer)?;
    expect_equal(
        &json!([refusal.status, refusal.error["code"]]),
        &json!([status, code]),
    )
    .with_context(|| answer.text.clone())
}

pub(super) fn malformed(stage: &Stage<'_>) -> Result<()> {
    let path = stage.talk.surface.path();
    for text in [
        "{\"model\": ",
        "",
        "not json",
        "{\"model\":\"codecell\"} more",
        "\u{0}",
    ] {
        let answer = stage.serve.ask(Request::new("POST", path).text(text))?;
        expect_error(&answer, 400, "invalid_json").with_context(|| format!("`{text}`"))?;
    }
    let whole = stage.talk.body("Hi.", &[]);
    let content = if stage.talk.surface == Surface::Chat {
        "messages"
    } else {
        "input"
    };
    let tool = |name: Value| match stage.talk.surface {
        Surface::Chat => json!([{ "type": "function", "function": { "name": name } }]),
        Surface::Responses => json!([{ "type": "function", "name": name }]),
    };
    let cases = [
        (content, json!(5)),
        (content, json!([])),
        (content, json!([{ "role": "user" }])),
        (content, json!([{ "role": "nobody", "content": "Hi." }])),
        (content, json!([5])),
        ("model", json!(5)),
        ("stream", json!("yes")),
        ("tools", json!("none")),
        ("tools", json!([5])),
        ("tools", tool(Value::Null)),
        ("tools", tool(json!("no name at all"))),
        ("metadata", json!("none")),
        ("metadata", json!({ "session": "x".repeat(201) })),
    ];
    for (key, value) in cases {
        let mut body = whole.clone();
        body[key] = value;
        // Without the header, so that the session in the body counts.
        let answer = stage.serve.ask(Request::post(path, &body))?;
        let refusal = refusal(&answer)?;
        ensure!(
            refusal.status == 400 && refusal.error["type"] == "invalid_request_error",
            "{key}: {} is {answer:?}",
            body[key]
        );
    }
    let answer = stage.serve.ask(Request::post(path, &json!([])))?;
    ensure!(answer.status == 400, "a list is {answer:?}");
    Ok(())
}

pub(super) fn unknown_model(stage: &Stage<'_>) -> Result<()> {
    for model in [
        "gpt-4o",
        "codecell/nobody",
        "house/other",
        "nowhere/scripted",
        "",
        "house/",
    ] {
        let talk = Talk {
            model: model.to_owned(),
            ..stage.talk.clone()
        };
        let outcome = talk.send(&stage.serve, &talk.body("Hi.", &[]))?;
        expect_refused(&outcome, 404, "model_not_found").with_context(|| format!("`{model}`"))?;
    }
    Ok(())
}

pub(super) fn oversized(stage: &Stage<'_>) -> Result<()> {
    let fitting = stage.talk.body(&"a".repeat(MAX_BODY / 2), &[]);
    stage.model.say(crate::model::Reply::text("So much."));
    ensure!(
        stage.talk.send(&stage.serve, &fitting)?.is_ok(),
        "a body below the limit is refused"
    );
    stage.model.finish()?;
    for times in [1, 64] {
        let body = stage.talk.body(&"a".repeat(times * MAX_BODY), &[]);
        let answer = stage.serve.ask(stage.talk.request(&body))?;
        expect_error(&answer, 413, "request_too_large")?;
    }
    Ok(())
}

pub(super) fn refused(stage: &Stage<'_>) -> Result<()> {
    let body = stage.talk.body("Hi.", &[]);
    let turn = || stage.talk.request(&body);
    for (what, request) in [
        ("a turn", turn()),
        ("the models", Request::get("/v1/models")),
        ("the runs", Request::get("/runs")),
        ("the sessions", Request::get("/sessions")),
        ("the approvals", Request::get("/approvals")),
        ("the metrics", Request::get("/metrics")),
        ("a trajectory", Request::get("/trajectory/e2e:turns")),
        ("a deletion", Request::new("DELETE", "/runs/any")),
        ("the MCP endpoint", Request::post("/mcp", &json!({}))),
    ] {
        for token in [
            "Bearer wrong",
            "Bearer ",
            "Basic ZTJlOmUyZQ==",
            "e2e-token-of-the-room",
        ] {
            let answer = stage.serve.ask(request.clone().header("authorization", token))?;
            expect_error(&answer, 401, "invalid_api_key")
                .with_context(|| format!("{what} with `{token}`"))?;
            expect_equal(&json!(answer.head.header("www-authenticate")), &json!("Bearer"))?;
        }
        for (name, value, code) in [
            ("host", "rebound.example", "forbidden_host"),
            ("host", "127.0.0.1.rebound.example:80", "forbidden_host"),
            ("origin", "https://elsewhere.example", "forbidden_origin"),
            ("origin", "null", "forbidden_origin"),
        ] {
            let answer = stage.serve.ask(request.clone().header(name, value))?;
            expect_error(&answer, 403, code).with_context(|| format!("{what} with {name} `{value}`"))?;
        }
    }
    let open = stage
        .serve
        .ask(Request::get("/healthz").header("host", "rebound.example"))?;
    expect_error(&open, 403, "forbidden_host")?;
    let unknown = stage.serve.ask(Request::get("/v1/nothing"))?;
    ensure!(refusal(&unknown)?.status == 404, "an unknown route: {unknown:?}");
    for (method, path) in [
        ("GET", stage.talk.surface.path()),
        ("POST", "/runs"),
        ("PUT", "/v1/models"),
    ] {
        let answer = stage.serve.ask(Request::new(method, path))?;
        ensure!(refusal(&answer)?.status == 405, "{method} {path}: {answer:?}");
    }
    Ok(())
}
