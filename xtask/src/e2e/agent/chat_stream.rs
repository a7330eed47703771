//! Answers of `/v1/chat/completions`.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::talk::{ClientCall, Outcome, Refusal, Spoken, shaped};

/// An answer that came at once.
pub(super) fn whole(answer: &Value) -> Result<Spoken> {
    ensure!(answer["object"] == "chat.completion", "another kind of object");
    let choice = &answer["choices"][0];
    let message = &choice["message"];
    ensure!(message["role"] == "assistant", "another role");
    let calls = message["tool_calls"].as_array();
    let calls: Result<Vec<ClientCall>> = calls.into_iter().flatten().map(call).collect();
    Ok(Spoken {
        id: text(&answer["id"])?,
        text: message["content"].as_str().unwrap_or_default().to_owned(),
        calls: calls?,
        finish: text(&choice["finish_reason"])?,
        usage: usage(&answer["usage"])?,
        ..Spoken::default()
    })
}

/// An answer in pieces.
pub(super) fn read(events: &[(String, String)]) -> Result<Outcome> {
    let (mut spoken, mut calls) = (Spoken::default(), Vec::<Value>::new());
    let mut rest = events.iter().map(|(_, data)| data.as_str());
    let mut first = true;
    loop {
        let data = rest.next().context("a stream without `[DONE]`")?;
        if data == "[DONE]" {
            break;
        }
        let mut chunk: Value = serde_json::from_str(data).with_context(|| format!("no JSON: {data}"))?;
        if let Some(error) = chunk.get_mut("error").map(Value::take) {
            shaped(&error)?;
            return Ok(Err(Refusal {
                status: 200,
                error,
                retry_after: None,
                before: spoken.text,
            }));
        }
        ensure!(
            chunk["object"] == "chat.completion.chunk",
            "another kind of object: {chunk}"
        );
        let id = text(&chunk["id"])?;
        ensure!(first || spoken.id == id, "the id changed: {chunk}");
        spoken.id = id;
        let Some(choice) = chunk["choices"].get(0) else {
            ensure!(!spoken.finish.is_empty(), "usage before the end: {chunk}");
            spoken.usage = usage(&chunk["usage"])?;
            continue;
        };
        ensure!(spoken.finish.is_empty(), "more after the end: {chunk}");
        let delta = &choice["delta"];
        ensure!(
            !first || delta["role"] == "assistant",
            "the first chunk has no role: {chunk}"
        );
        first = false;
        spoken
            .text
            .push_str(delta["content"].as_str().unwrap_or_default());
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            merge(&mut calls, piece)?;
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            reason.clone_into(&mut spoken.finish);
        }
    }
    ensure!(rest.next().is_none(), "more after `[DONE]`");
    ensure!(!spoken.finish.is_empty(), "no reason to end");
    let calls: Result<Vec<ClientCall>> = calls.iter().map(call).collect();
    spoken.calls = calls?;
    Ok(Ok(spoken))
}

/// Adds a piece of a call: the first has id and name, all have arguments to be joined.
fn merge(calls: &mut Vec<Value>, piece: &Value) -> Result<()> {
    let index = piece["index"]
        .as_u64()
        .and_then(|index| usize::try_from(index).ok());
    let index = index.with_context(|| format!("no index: {piece}"))?;
    if index == calls.len() {
        calls.push(json!({
            "id": piece["id"], "type": piece["type"],
            "function": { "name": piece["function"]["name"], "arguments": "" }
        }));
    }
    let call = calls
        .get_mut(index)
        .with_context(|| format!("a call was left out: {piece}"))?;
    let so_far = text(&call["function"]["arguments"])?;
    let more = piece["function"]["arguments"].as_str().unwrap_or_default();
    call["function"]["arguments"] = json!(so_far + more);
    Ok(())
}

fn call(call: &Value) -> Result<ClientCall> {
    ensure!(call["type"] == "function", "no function call: {call}");
    let arguments = text(&call["function"]["arguments"])?;
    Ok(ClientCall {
        id: text(&call["id"])?,
        name: text(&call["function"]["name"])?,
        arguments: serde_json::from_str(&arguments).with_context(|| format!("no JSON: {arguments}"))?,
    })
}

fn usage(usage: &Value) -> Result<(u64, u64)> {
    let count = |key: &str| {
        usage[key]
            .as_u64()
            .with_context(|| format!("no `{key}` in {usage}"))
    };
    let counted = (count("prompt_tokens")?, count("completion_tokens")?);
    ensure!(
        count("total_tokens")? == counted.0 + counted.1,
        "tokens do not add up: {usage}"
    );
    Ok(counted)
}

fn text(value: &Value) -> Result<String> {
    Ok(value
        .as_str()
        .with_context(|| format!("no text: {value}"))?
        .to_owned())
}
