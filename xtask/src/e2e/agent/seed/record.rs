//! Step 16: what is kept of it all.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::{
    serve::{MODEL_KEY, TOKEN},
    stage::Stage,
};
use crate::{e2e::room::expect_equal, http::Request};

pub(super) fn trajectory(stage: &Stage<'_>) -> Result<()> {
    let answer = stage
        .serve
        .ask(Request::get(format!("/trajectory/{}", stage.talk.session)))?;
    ensure!(
        answer.status == 200 && answer.head.header("content-type") == Some("application/x-ndjson"),
        "no trajectory: {answer:?}"
    );
    let events: Result<Vec<Value>, _> = answer.text.lines().map(serde_json::from_str).collect();
    let events = events.context("a line that is no JSON")?;
    let of = |kind: &str| -> Vec<&Value> {
        let wanted = events.iter().filter(|event| event["type"] == kind);
        wanted.map(|event| &event["data"]).collect()
    };
    let (calls, results) = (of("tool.call"), of("tool.result"));
    let by_model = |name: &str| -> Vec<&Value> {
        let wanted = calls
            .iter()
            .filter(|call| call["name"] == name && call.get("parentToolCallId").is_none_or(Value::is_null));
        wanted.copied().collect()
    };
    let execs = by_model("exec");
    let mut nested = BTreeMap::<&str, Vec<&Value>>::new();
    for call in &calls {
        if let Some(parent) = call["parentToolCallId"].as_str() {
            nested.entry(parent).or_default().push(call);
        }
    }
    for (parent, children) in &nested {
        ensure!(
            execs.iter().any(|exec| exec["toolCallId"] == *parent),
            "calls under `{parent}`, which is no exec: {children:?}"
        );
    }
    for (words, expected) in [
        ("return ALL_TOOLS", &[][..]),
        (
            "price of a shipment",
            &[
                "openclaw:shipping:shipping_quote",
                "openclaw:core:read",
                "client:app:select_file",
                "client:app:select_file",
                "client:app:select_file",
            ],
        ),
        ("API.read", &[]),
        ("after the restore", &["mcp:probe:slow_value"]),
    ] {
        let exec = execs.iter().find(|exec| {
            exec["arguments"]["code"]
                .as_str()
                .is_some_and(|code| code.contains(words))
        });
        let exec = exec.with_context(|| format!("no exec with `{words}`"))?;
        let id = exec["toolCallId"].as_str().context("a call without an id")?;
        let children = nested.get(id).map_or(&[][..], Vec::as_slice);
        let ids: Vec<&Value> = children.iter().map(|call| &call["catalogId"]).collect();
        expect_equal(&json!(ids), &json!(expected))
            .with_context(|| format!("under the exec with `{words}`"))?;
        for call in children.iter().chain([exec]) {
            let answered = results
                .iter()
                .filter(|result| result["toolCallId"] == call["toolCallId"]);
            ensure!(answered.count() == 1, "a call without one result: {call}");
        }
    }
    ensure!(!by_model("wait").is_empty(), "the record has no wait");
    ensure!(
        !by_model("shipping_quote").is_empty(),
        "the record has no direct call"
    );
    for (kind, text) in [
        ("user.message", "What is there?"),
        ("assistant.message", "after the restore: late"),
    ] {
        ensure!(
            of(kind).iter().any(|data| data["text"] == text),
            "no `{kind}` with `{text}`"
        );
    }
    for secret in [TOKEN, MODEL_KEY] {
        ensure!(!answer.text.contains(secret), "the record has a secret");
    }
    Ok(())
}
