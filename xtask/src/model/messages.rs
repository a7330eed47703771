//! Anthropic Messages.

use serde_json::{Value, json};

use super::{
    Frame,
    reply::{Turn, pieces},
    seen::{Answered, Offered, Said, Seen, content, list, text},
};

pub(super) fn read(body: &Value, seen: &mut Seen) {
    seen.model = text(&body["model"]);
    seen.streamed = body["stream"] == true;
    seen.system = content(&body["system"]);
    for tool in list(&body["tools"]) {
        // A tool of the client's own has no type, or this one.
        seen.tools.push(match tool["type"].as_str() {
            None | Some("custom") => Offered::function(tool, &tool["input_schema"]),
            Some(kind) => Offered::hosted(kind, tool),
        });
    }
    for message in list(&body["messages"]) {
        let mut said = Said {
            role: text(&message["role"]),
            text: content(&message["content"]),
            calls: Vec::new(),
        };
        for block in list(&message["content"]) {
            match block["type"].as_str() {
                Some("tool_use") => said.calls.push(text(&block["name"])),
                Some("tool_result") => seen.results.push(Answered {
                    call: text(&block["tool_use_id"]),
                    text: content(&block["content"]),
                }),
                _ => {}
            }
        }
        seen.messages.push(said);
    }
}

fn stop(turn: &Turn) -> &'static str {
    if turn.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    }
}

fn message(seen: &Seen, number: usize) -> Value {
    json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": seen.model, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": seen.body.to_string().len(), "output_tokens": 1 }
    })
}

/// The blocks of a turn, with the deltas that fill each.
fn blocks(turn: &Turn, number: usize) -> Vec<(Value, Vec<Value>)> {
    let mut blocks = Vec::new();
    if !turn.text.is_empty() {
        let deltas = pieces(&turn.text).into_iter();
        let deltas = deltas.map(|piece| json!({ "type": "text_delta", "text": piece }));
        blocks.push((json!({ "type": "text", "text": "" }), deltas.collect()));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let block = json!({
            "type": "tool_use", "id": format!("toolu_{number}_{index}"), "name": call.name, "input": {}
        });
        let deltas = pieces(&call.text()).into_iter();
        let deltas = deltas.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        blocks.push((block, deltas.collect()));
    }
    blocks
}

pub(super) fn whole(turn: &Turn, seen: &Seen, number: usize) -> Value {
    let mut body = message(seen, number);
    let mut calls = turn.calls.iter();
    let filled = blocks(turn, number).into_iter().map(|(mut block, _)| {
        if block["type"] == "text" {
            block["text"] = json!(turn.text);
        } else {
            block["input"] = calls.next().map_or(Value::Null, |call| call.value());
        }
        block
    });
    body["content"] = filled.collect();
    body["stop_reason"] = json!(stop(turn));
    body["usage"]["output_tokens"] = json!(turn.tokens());
    body
}

pub(super) fn stream(turn: &Turn, seen: &Seen, number: usize) -> Vec<Frame> {
    let mut events = vec![
        json!({ "type": "message_start", "message": message(seen, number) }),
        json!({ "type": "ping" }),
    ];
    for (index, (block, deltas)) in blocks(turn, number).into_iter().enumerate() {
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        for delta in deltas {
            events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({
        "type": "message_delta", "delta": { "stop_reason": stop(turn), "stop_sequence": null },
        "usage": { "output_tokens": turn.tokens() }
    }));
    events.push(json!({ "type": "message_stop" }));
    events.iter().map(Frame::typed).collect()
}
