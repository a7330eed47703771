use std::collections::HashMap;

use super::*;

/// Texts with the ids that were made up replaced by the order in which they occur.
#[derive(Default)]
struct Names(HashMap<String, String>);

impl Names {
    fn tidy(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if text.starts_with("msg_") || text.starts_with("fc_") => {
                let next = format!("{}{}", text.split('_').next().unwrap(), self.0.len());
                *text = self.0.entry(text.clone()).or_insert(next).clone();
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.tidy(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.tidy(field)),
            _ => {}
        }
    }
}

fn reply() -> ResponsesReply {
    ResponsesReply::new("resp_1".into(), 7, json!({ "model": "codecell", "metadata": {} }))
}

fn text(round: u32, text: &str) -> Piece {
    let text = text.to_owned();
    Piece::Text { round, text }
}

fn response(status: &str, output: Value, usage: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 7, "status": status, "error": null,
        "incomplete_details": null, "output": output, "usage": usage, "model": "codecell", "metadata": {},
    })
}

fn message(id: &str, status: &str, text: &str) -> Value {
    let content = json!([{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }]);
    json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content })
}

fn cost() -> Usage {
    Usage {
        input: 5,
        output: 3,
        cache_read: 2,
        cache_write: 1,
    }
}

fn spelled_cost() -> Value {
    json!({
        "input_tokens": 8, "input_tokens_details": { "cached_tokens": 2, "cache_write_tokens": 1 },
        "output_tokens": 3, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 11,
    })
}

fn one_call() -> Over {
    Over::Calls(vec![ClientCall {
        id: "call_1".into(),
        name: "look".into(),
        arguments: r#"{"a":1}"#.into(),
    }])
}

#[test]
fn a_stream_tells_each_item_from_its_beginning_to_its_end() {
    let mut reply = reply();
    let mut frames = reply.begin();
    for piece in [
        text(1, "Let "),
        text(1, "me."),
        text(2, "Now."),
        Piece::Over(one_call(), cost()),
    ] {
        frames.extend(reply.piece(piece));
    }
    let mut names = Names::default();
    let events: Vec<Value> = frames
        .iter()
        .enumerate()
        .map(|(at, frame)| {
            let mut data: Value = serde_json::from_str(&frame.data).unwrap();
            assert_eq!(
                (&data["type"], &data["sequence_number"]),
                (&json!(frame.event), &json!(at))
            );
            data.as_object_mut().unwrap().shift_remove("sequence_number");
            names.tidy(&mut data);
            data
        })
        .collect();
    let call = |status: &str, arguments: &str| {
        json!({
            "id": "fc2", "type": "function_call", "status": status, "call_id": "call_1", "name": "look",
            "arguments": arguments,
        })
    };
    let opened = |index: usize, id: &str| {
        [
            json!({
                "type": "response.output_item.added", "output_index": index,
                "item": { "id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": [] },
            }),
            json!({
                "type": "response.content_part.added", "item_id": id, "output_index": index, "content_index": 0,
                "part": { "type": "output_text", "text": "", "annotations": [], "logprobs": [] },
            }),
        ]
    };
    let delta = |index: usize, id: &str, text: &str| {
        json!({
            "type": "response.output_text.delta", "item_id": id, "output_index": index, "content_index": 0,
            "delta": text, "logprobs": [],
        })
    };
    let closed = |index: usize, id: &str, text: &str| {
        [
            json!({
                "type": "response.output_text.done", "item_id": id, "output_index": index, "content_index": 0,
                "text": text, "logprobs": [],
            }),
            json!({
                "type": "response.content_part.done", "item_id": id, "output_index": index, "content_index": 0,
                "part": { "type": "output_text", "text": text, "annotations": [], "logprobs": [] },
            }),
            json!({
                "type": "response.output_item.done", "output_index": index, "item": message(id, "completed", text),
            }),
        ]
    };
    let output = json!([
        message("msg0", "completed", "Let me."),
        message("msg1", "completed", "Now."),
        call("completed", r#"{"a":1}"#),
    ]);
    let begun = response("in_progress", json!([]), Value::Null);
    let expected = [
        vec![
            json!({ "type": "response.created", "response": begun }),
            json!({ "type": "response.in_progress", "response": begun }),
        ],
        opened(0, "msg0").to_vec(),
        vec![delta(0, "msg0", "Let "), delta(0, "msg0", "me.")],
        closed(0, "msg0", "Let me.").to_vec(),
        opened(1, "msg1").to_vec(),
        vec![delta(1, "msg1", "Now.")],
        closed(1, "msg1", "Now.").to_vec(),
        vec![
            json!({ "type": "response.output_item.added", "output_index": 2, "item": call("in_progress", "") }),
            json!({
                "type": "response.function_call_arguments.delta", "item_id": "fc2", "output_index": 2,
                "delta": r#"{"a":1}"#,
            }),
            json!({
                "type": "response.function_call_arguments.done", "item_id": "fc2", "output_index": 2, "name": "look",
                "arguments": r#"{"a":1}"#,
            }),
            json!({
                "type": "response.output_item.done", "output_index": 2, "item": call("completed", r#"{"a":1}"#),
            }),
            json!({ "type": "response.completed", "response": response("completed", output, spelled_cost()) }),
        ],
    ]
    .concat();
    assert_eq!(events, expected);
}

#[test]
fn the_last_event_and_the_whole_say_the_same() {
    for (over, status, event, reason) in [
        (Over::Done, "completed", "response.completed", Value::Null),
        (
            Over::Cut,
            "incomplete",
            "response.incomplete",
            json!({ "reason": "max_output_tokens" }),
        ),
        (
            Over::Refused,
            "incomplete",
            "response.incomplete",
            json!({ "reason": "content_filter" }),
        ),
    ] {
        let mut reply = reply();
        reply.piece(text(1, "So"));
        let last = reply.piece(Piece::Over(over, cost())).pop().unwrap();
        let last_data: Value = serde_json::from_str(&last.data).unwrap();
        assert_eq!(
            (last.event, &last_data["response"]),
            (Some(event), &reply.whole())
        );
        let mut whole = reply.whole();
        Names::default().tidy(&mut whole);
        let mut expected = response(status, json!([message("msg0", status, "So")]), spelled_cost());
        expected["incomplete_details"] = reason;
        assert_eq!(whole, expected);
    }
}

#[test]
fn a_stream_that_fails_ends_with_a_failed_response() {
    let mut reply = reply();
    reply.piece(text(1, "So"));
    let error = ApiError::new(
        axum::http::StatusCode::BAD_GATEWAY,
        "provider_error",
        "it broke off",
    );
    let last = reply.failed(&error).pop().unwrap();
    let mut data: Value = serde_json::from_str(&last.data).unwrap();
    Names::default().tidy(&mut data);
    let mut expected = response(
        "failed",
        json!([message("msg0", "incomplete", "So")]),
        Value::Null,
    );
    expected["error"] = json!({ "code": "server_error", "message": "it broke off" });
    assert_eq!(
        (last.event, &data["response"]),
        (Some("response.failed"), &expected)
    );
}
