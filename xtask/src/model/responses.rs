//! `OpenAI` Responses.

use serde_json::{Value, json};

use super::{
    Frame,
    reply::{Turn, pieces},
    seen::{Answered, Offered, Said, Seen, content, list, text},
};

pub(super) fn read(body: &Value, seen: &mut Seen) {
    seen.model = text(&body["model"]);
    seen.streamed = body["stream"] == true;
    seen.system = text(&body["instructions"]);
    for tool in list(&body["tools"]) {
        match tool["type"].as_str() {
            Some("function") => seen.tools.push(Offered::function(tool, &tool["parameters"])),
            Some("namespace") => {
                for inner in list(&tool["tools"]) {
                    let mut inner = Offered::function(inner, &inner["parameters"]);
                    inner.namespace = tool["name"].as_str().map(str::to_owned);
                    seen.tools.push(inner);
                }
            }
            kind => seen.tools.push(Offered::hosted(kind.unwrap_or("none"), tool)),
        }
    }
    if let Some(input) = body["input"].as_str() {
        seen.messages.push(said("user", input.to_owned(), Vec::new()));
    }
    for item in list(&body["input"]) {
        match item["type"].as_str() {
            Some("function_call") => {
                seen.messages
                    .push(said("assistant", String::new(), vec![text(&item["name"])]));
            }
            Some("function_call_output") => {
                let output = &item["output"];
                seen.results.push(Answered {
                    call: text(&item["call_id"]),
                    text: content(output),
                });
            }
            Some("message") | None => {
                let role = text(&item["role"]);
                seen.messages
                    .push(said(&role, content(&item["content"]), Vec::new()));
            }
            Some(_) => {}
        }
    }
}

fn said(role: &str, text: String, calls: Vec<String>) -> Said {
    Said {
        role: role.to_owned(),
        text,
        calls,
    }
}

/// The output of a turn, item by item.
fn items(turn: &Turn, number: usize) -> Vec<Value> {
    let message = (!turn.text.is_empty()).then(|| {
        json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": turn.text, "annotations": [] }]
        })
    });
    let calls = turn.calls.iter().enumerate().map(|(index, call)| {
        let mut item = json!({
            "type": "function_call", "id": format!("fc_{number}_{index}"), "call_id": format!("call_{number}_{index}"),
            "name": call.name, "arguments": call.text(), "status": "completed"
        });
        if let Some(namespace) = &call.namespace {
            item["namespace"] = json!(namespace);
        }
        item
    });
    message.into_iter().chain(calls).collect()
}

fn response(turn: &Turn, seen: &Seen, number: usize, status: &str) -> Value {
    let done = status == "completed";
    let input = seen.body.to_string().len();
    let usage = json!({
        "input_tokens": input, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": turn.tokens(), "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + turn.tokens()
    });
    json!({
        "id": format!("resp_{number}"), "object": "response", "created_at": 1_800_000_000, "status": status,
        "model": seen.model, "output": if done { items(turn, number) } else { Vec::new() },
        "usage": if done { usage } else { Value::Null }, "error": null, "incomplete_details": null
    })
}

pub(super) fn whole(turn: &Turn, seen: &Seen, number: usize) -> Value {
    response(turn, seen, number, "completed")
}

pub(super) fn stream(turn: &Turn, seen: &Seen, number: usize) -> Vec<Frame> {
    let begun = response(turn, seen, number, "in_progress");
    let mut events = vec![
        json!({ "type": "response.created", "response": begun }),
        json!({ "type": "response.in_progress", "response": begun }),
    ];
    for (index, item) in items(turn, number).iter().enumerate() {
        let place = |kind: &str| json!({ "type": kind, "item_id": item["id"], "output_index": index });
        let mut empty = item.clone();
        empty["status"] = json!("in_progress");
        let call = item["type"] == "function_call";
        empty[if call { "arguments" } else { "content" }] = if call { json!("") } else { json!([]) };
        events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": empty }));
        if call {
            for piece in pieces(item["arguments"].as_str().unwrap_or_default()) {
                let mut event = place("response.function_call_arguments.delta");
                event["delta"] = json!(piece);
                events.push(event);
            }
            let mut event = place("response.function_call_arguments.done");
            event["arguments"] = item["arguments"].clone();
            events.push(event);
        } else {
            let part = |kind: &str| {
                let mut event = place(kind);
                event["content_index"] = json!(0);
                event
            };
            let mut event = part("response.content_part.added");
            event["part"] = json!({ "type": "output_text", "text": "", "annotations": [] });
            events.push(event);
            for piece in pieces(&turn.text) {
                let mut event = part("response.output_text.delta");
                event["delta"] = json!(piece);
                events.push(event);
            }
            let mut event = part("response.output_text.done");
            event["text"] = json!(turn.text);
            events.push(event);
            let mut event = part("response.content_part.done");
            event["part"] = item["content"][0].clone();
            events.push(event);
        }
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": whole(turn, seen, number) }));
    let numbered = events.iter_mut().enumerate().map(|(sequence, event)| {
        event["sequence_number"] = json!(sequence);
        Frame::typed(event)
    });
    numbered.collect()
}
