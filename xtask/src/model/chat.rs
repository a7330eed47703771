//! `OpenAI` Chat Completions.

use serde_json::{Value, json};

use super::{
    Frame,
    reply::{Turn, pieces},
    seen::{Answered, Offered, Said, Seen, content, list, text},
};

pub(super) fn read(body: &Value, seen: &mut Seen) {
    seen.model = text(&body["model"]);
    seen.streamed = body["stream"] == true;
    for tool in list(&body["tools"]) {
        let kind = tool["type"].as_str().unwrap_or("none");
        seen.tools.push(if kind == "function" {
            Offered::function(&tool["function"], &tool["function"]["parameters"])
        } else {
            Offered::hosted(kind, tool)
        });
    }
    for message in list(&body["messages"]) {
        let (role, said) = (text(&message["role"]), content(&message["content"]));
        match role.as_str() {
            "system" | "developer" => seen.system.push_str(&said),
            "tool" => seen.results.push(Answered {
                call: text(&message["tool_call_id"]),
                text: said,
            }),
            _ => {
                let calls = list(&message["tool_calls"]).iter();
                seen.messages.push(Said {
                    role,
                    text: said,
                    calls: calls.map(|call| text(&call["function"]["name"])).collect(),
                });
            }
        }
    }
}

fn finish(turn: &Turn) -> &'static str {
    if turn.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

fn usage(turn: &Turn, seen: &Seen) -> Value {
    let input = seen.body.to_string().len();
    json!({ "prompt_tokens": input, "completion_tokens": turn.tokens(), "total_tokens": input + turn.tokens() })
}

fn envelope(kind: &str, seen: &Seen, number: usize) -> Value {
    json!({
        "id": format!("chatcmpl-{number}"), "object": kind, "created": 1_800_000_000, "model": seen.model,
        "choices": []
    })
}

pub(super) fn whole(turn: &Turn, seen: &Seen, number: usize) -> Value {
    let text = (!turn.text.is_empty()).then_some(&turn.text);
    let mut message = json!({ "role": "assistant", "content": text });
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().enumerate().map(|(index, call)| {
            json!({
                "id": format!("call_{number}_{index}"), "type": "function",
                "function": { "name": call.name, "arguments": call.text() }
            })
        });
        message["tool_calls"] = calls.collect();
    }
    let mut body = envelope("chat.completion", seen, number);
    body["choices"] = json!([{ "index": 0, "message": message, "finish_reason": finish(turn) }]);
    body["usage"] = usage(turn, seen);
    body
}

pub(super) fn stream(turn: &Turn, seen: &Seen, number: usize) -> Vec<Frame> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let mut chunk = envelope("chat.completion.chunk", seen, number);
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        Frame::data(&chunk)
    };
    let mut frames = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    for piece in pieces(&turn.text) {
        frames.push(chunk(json!({ "content": piece }), None));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        // Name and id come once; what follows is told by its index alone.
        let function = json!({ "name": call.name, "arguments": "" });
        let begun = json!({
            "index": index, "id": format!("call_{number}_{index}"), "type": "function", "function": function
        });
        frames.push(chunk(json!({ "tool_calls": [begun] }), None));
        for piece in pieces(&call.text()) {
            let more = json!({ "index": index, "function": { "arguments": piece } });
            frames.push(chunk(json!({ "tool_calls": [more] }), None));
        }
    }
    frames.push(chunk(json!({}), Some(finish(turn))));
    if seen.body["stream_options"]["include_usage"] == true {
        let mut last = envelope("chat.completion.chunk", seen, number);
        last["usage"] = usage(turn, seen);
        frames.push(Frame::data(&last));
    }
    frames.push(Frame {
        event: None,
        data: "[DONE]".to_owned(),
    });
    frames
}
