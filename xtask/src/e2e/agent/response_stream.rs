//! Answers of `/v1/responses`.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::talk::{ClientCall, Outcome, Refusal, Spoken, shaped};

/// A response that is over.
pub(super) fn whole(response: &Value) -> Result<Spoken> {
    ensure!(response["object"] == "response", "another kind of object");
    let mut spoken = Spoken {
        id: text(&response["id"])?,
        ..Spoken::default()
    };
    for item in response["output"].as_array().context("no output")? {
        match item["type"].as_str() {
            Some("message") => {
                ensure!(item["role"] == "assistant", "another role: {item}");
                for part in item["content"].as_array().context("no content")? {
                    ensure!(part["type"] == "output_text", "another kind of content: {part}");
                    spoken.text.push_str(&text(&part["text"])?);
                }
            }
            Some("function_call") => {
                ensure!(
                    item["status"] == "completed" && item["id"].is_string(),
                    "an unfinished call: {item}"
                );
                let arguments = text(&item["arguments"])?;
                spoken.calls.push(ClientCall {
                    id: text(&item["call_id"])?,
                    name: text(&item["name"])?,
                    arguments: serde_json::from_str(&arguments)
                        .with_context(|| format!("no JSON: {arguments}"))?,
                });
            }
            _ => bail!("an unknown item: {item}"),
        }
    }
    spoken.finish = match response["status"].as_str() {
        Some("completed") if spoken.calls.is_empty() => "stop",
        Some("completed") => "tool_calls",
        Some("incomplete") => "length",
        other => bail!("a response that is {other:?}"),
    }
    .to_owned();
    let usage = &response["usage"];
    let count = |key: &str| {
        usage[key]
            .as_u64()
            .with_context(|| format!("no `{key}` in {usage}"))
    };
    spoken.usage = (count("input_tokens")?, count("output_tokens")?);
    ensure!(
        count("total_tokens")? == spoken.usage.0 + spoken.usage.1,
        "tokens do not add up: {usage}"
    );
    Ok(spoken)
}

/// A response in pieces.
pub(super) fn read(events: &[(String, String)]) -> Result<Outcome> {
    // Per item: what its deltas come to.
    let mut told: Vec<String> = Vec::new();
    let mut kinds = Vec::new();
    let mut end = None;
    for (number, (name, data)) in events.iter().enumerate() {
        let event: Value = serde_json::from_str(data).with_context(|| format!("no JSON: {data}"))?;
        if event.get("type").is_none() && event["error"].is_object() {
            shaped(&event["error"])?;
            ensure!(number + 1 == events.len(), "more after an error");
            return Ok(Err(failed(event["error"].clone(), &told)));
        }
        ensure!(end.is_none(), "more after the end: {event}");
        ensure!(
            event["type"] == name.as_str(),
            "an event named `{name}` holds {event}"
        );
        ensure!(
            event["sequence_number"] == number,
            "number {number} is missing: {event}"
        );
        kinds.push(name.as_str());
        let index = event["output_index"]
            .as_u64()
            .and_then(|index| usize::try_from(index).ok());
        match (name.as_str(), index) {
            ("response.output_item.added", Some(index)) => {
                ensure!(index == told.len(), "an item was left out: {event}");
                told.push(String::new());
            }
            ("response.output_text.delta" | "response.function_call_arguments.delta", Some(index)) => {
                let item = told
                    .get_mut(index)
                    .with_context(|| format!("no such item: {event}"))?;
                item.push_str(&text(&event["delta"])?);
            }
            ("response.output_text.done", Some(index)) => {
                expect_told(&told, index, &event["text"])?;
            }
            ("response.function_call_arguments.done", Some(index)) => {
                expect_told(&told, index, &event["arguments"])?;
            }
            ("response.output_item.done", Some(index)) => {
                let item = &event["item"];
                let whole = item.get("arguments").unwrap_or(&item["content"][0]["text"]);
                expect_told(&told, index, whole)?;
            }
            ("response.completed" | "response.incomplete", _) => {
                let spoken = whole(&event["response"])?;
                let items = event["response"]["output"].as_array().map_or(0, Vec::len);
                ensure!(
                    items == told.len(),
                    "{} items were told, {items} were meant",
                    told.len()
                );
                end = Some(Ok(spoken));
            }
            ("response.failed", _) => end = Some(Err(failed(event["response"]["error"].clone(), &told))),
            _ => {}
        }
    }
    ensure!(
        kinds.starts_with(&["response.created", "response.in_progress"]),
        "another beginning: {kinds:?}"
    );
    end.context("a stream without an end")
}

fn failed(error: Value, told: &[String]) -> Refusal {
    Refusal {
        status: 200,
        error,
        retry_after: None,
        before: told.concat(),
    }
}

fn expect_told(told: &[String], index: usize, whole: &Value) -> Result<()> {
    let so_far = told.get(index).with_context(|| format!("no item {index}"))?;
    ensure!(
        whole == so_far.as_str(),
        "deltas came to `{so_far}`, the whole is {whole}"
    );
    Ok(())
}

fn text(value: &Value) -> Result<String> {
    Ok(value
        .as_str()
        .with_context(|| format!("no text: {value}"))?
        .to_owned())
}
