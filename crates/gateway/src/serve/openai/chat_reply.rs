//! What `POST /v1/chat/completions` answers, whole and in chunks.
use codecell_agent::ClientCall;
use codecell_llm::Usage;
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::fields::with;
use super::leg::{Over, Piece, read};
use super::stream::{Frame, Spelling};

/// An answer that is being given. The text of a later round is set off from that of the rounds before.
#[derive(Clone, Debug)]
pub(super) struct ChatReply {
    pub(super) id: String,
    /// In seconds since 1970.
    pub(super) created: u64,
    /// As the request named it.
    pub(super) model: String,
    /// Whether the stream ends with what it cost.
    pub(super) include_usage: bool,
    text: String,
    round: u32,
    over: Over,
    usage: Usage,
}

impl ChatReply {
    pub(super) fn new(id: String, created: u64, model: String, include_usage: bool) -> Self {
        Self {
            id,
            created,
            model,
            include_usage,
            text: String::new(),
            round: 0,
            over: Over::Done,
            usage: Usage::default(),
        }
    }

    /// The answer as a whole.
    pub(super) fn whole(&self) -> Value {
        let said = json!({ "role": "assistant", "content": self.text, "refusal": null });
        let message = match &self.over {
            Over::Calls(calls) => {
                let text = Some(&self.text).filter(|text| !text.is_empty());
                let calls: Vec<Value> = calls.iter().map(call).collect();
                with(said, json!({ "content": text, "tool_calls": calls }))
            }
            Over::Done | Over::Cut | Over::Refused => said,
        };
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": finish_reason(&self.over),
            }],
            "usage": usage(self.usage),
            "system_fingerprint": null,
        })
    }

    fn chunk(&self, choices: Value, usage: Value) -> Frame {
        let chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "system_fingerprint": null,
            "choices": choices,
        });
        if self.include_usage {
            return Frame::of(&with(chunk, json!({ "usage": usage })));
        }
        Frame::of(&chunk)
    }

    fn delta(&self, delta: Value, finish_reason: Option<&str>) -> Frame {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
        self.chunk(json!([choice]), Value::Null)
    }

    fn say(&mut self, round: u32, text: &str) -> String {
        let apart = !self.text.is_empty() && self.round != round;
        let more = format!("{}{text}", if apart { "\n\n" } else { "" });
        self.text.push_str(&more);
        self.round = round;
        more
    }
}

impl Spelling for ChatReply {
    fn begin(&mut self) -> Vec<Frame> {
        vec![self.delta(
            json!({ "role": "assistant", "content": "", "refusal": null }),
            None,
        )]
    }

    fn piece(&mut self, piece: Piece) -> Vec<Frame> {
        match piece {
            Piece::Text { round, text } => {
                let more = self.say(round, &text);
                vec![self.delta(json!({ "content": more }), None)]
            }
            Piece::Over(over, cost) => {
                let mut frames = Vec::new();
                if let Over::Calls(calls) = &over {
                    for (index, one) in calls.iter().enumerate() {
                        let call = with(json!({ "index": index }), call(one));
                        frames.push(self.delta(json!({ "tool_calls": [call] }), None));
                    }
                }
                frames.push(self.delta(json!({}), Some(finish_reason(&over))));
                if self.include_usage {
                    frames.push(self.chunk(json!([]), usage(cost)));
                }
                frames.push(Frame {
                    event: None,
                    data: "[DONE]".to_owned(),
                });
                (self.over, self.usage) = (over, cost);
                frames
            }
        }
    }

    fn failed(&mut self, error: &ApiError) -> Vec<Frame> {
        vec![Frame::of(&error.to_value())]
    }
}

fn call(call: &ClientCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": call.arguments },
    })
}

/// A limit of the turn is told as one of the model: the answer is cut all the same.
fn finish_reason(over: &Over) -> &'static str {
    match over {
        Over::Calls(_) => "tool_calls",
        Over::Done => "stop",
        Over::Cut => "length",
        Over::Refused => "content_filter",
    }
}

fn usage(usage: Usage) -> Value {
    let read = read(usage);
    json!({
        "prompt_tokens": read,
        "completion_tokens": usage.output,
        "total_tokens": read.saturating_add(usage.output),
        "prompt_tokens_details": { "cached_tokens": usage.cache_read },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(include_usage: bool) -> ChatReply {
        ChatReply::new("chatcmpl-1".into(), 7, "codecell".into(), include_usage)
    }

    fn text(round: u32, text: &str) -> Piece {
        let text = text.to_owned();
        Piece::Text { round, text }
    }

    fn cost() -> Usage {
        Usage {
            input: 5,
            output: 3,
            cache_read: 2,
            cache_write: 1,
        }
    }

    fn calls() -> Over {
        let call = |id: &str, name: &str| ClientCall {
            id: id.into(),
            name: name.into(),
            arguments: r#"{"a":1}"#.into(),
        };
        Over::Calls(vec![call("call_1", "look"), call("call_2", "go")])
    }

    fn spelled(call: &str, name: &str) -> Value {
        json!({ "id": call, "type": "function", "function": { "name": name, "arguments": "{\"a\":1}" } })
    }

    #[test]
    fn a_whole_answer_has_the_text_of_all_rounds() {
        for (pieces, over, message, reason) in [
            (
                vec![text(1, "Let "), text(1, "me see."), text(3, "It is 7.")],
                Over::Done,
                json!({ "role": "assistant", "content": "Let me see.\n\nIt is 7.", "refusal": null }),
                "stop",
            ),
            (
                vec![],
                Over::Done,
                json!({ "role": "assistant", "content": "", "refusal": null }),
                "stop",
            ),
            (
                vec![text(1, "cut")],
                Over::Cut,
                json!({ "role": "assistant", "content": "cut", "refusal": null }),
                "length",
            ),
            (
                vec![],
                Over::Refused,
                json!({ "role": "assistant", "content": "", "refusal": null }),
                "content_filter",
            ),
            (
                vec![],
                calls(),
                json!({
                    "role": "assistant", "content": null, "refusal": null,
                    "tool_calls": [spelled("call_1", "look"), spelled("call_2", "go")],
                }),
                "tool_calls",
            ),
        ] {
            let mut reply = reply(false);
            for piece in pieces {
                reply.piece(piece);
            }
            reply.piece(Piece::Over(over, cost()));
            assert_eq!(
                reply.whole(),
                json!({
                    "id": "chatcmpl-1",
                    "object": "chat.completion",
                    "created": 7,
                    "model": "codecell",
                    "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": reason }],
                    "usage": {
                        "prompt_tokens": 8,
                        "completion_tokens": 3,
                        "total_tokens": 11,
                        "prompt_tokens_details": { "cached_tokens": 2 },
                    },
                    "system_fingerprint": null,
                })
            );
        }
    }

    /// The deltas and reasons of chunks, whose other fields are checked to be the same in each.
    fn deltas(frames: &[Frame]) -> Vec<(Value, Value)> {
        let delta = |frame: &Frame| {
            let mut chunk: Value = serde_json::from_str(&frame.data).unwrap();
            let choice = chunk["choices"][0].take();
            let expected = json!({
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "codecell",
                "system_fingerprint": null, "choices": [null],
            });
            assert_eq!((&chunk, frame.event), (&expected, None));
            assert_eq!((&choice["index"], &choice["logprobs"]), (&json!(0), &Value::Null));
            (choice["delta"].clone(), choice["finish_reason"].clone())
        };
        frames.iter().map(delta).collect()
    }

    #[test]
    fn a_stream_tells_text_then_calls_then_the_reason() {
        let mut reply = reply(false);
        let mut frames = reply.begin();
        for piece in [
            text(1, "a"),
            text(1, "b"),
            text(2, "c"),
            Piece::Over(calls(), cost()),
        ] {
            frames.extend(reply.piece(piece));
        }
        assert_eq!(frames.pop().unwrap().data, "[DONE]");
        let indexed = |index: usize, mut call: Value| {
            call["index"] = json!(index);
            json!({ "tool_calls": [call] })
        };
        assert_eq!(
            deltas(&frames),
            [
                (
                    json!({ "role": "assistant", "content": "", "refusal": null }),
                    Value::Null
                ),
                (json!({ "content": "a" }), Value::Null),
                (json!({ "content": "b" }), Value::Null),
                (json!({ "content": "\n\nc" }), Value::Null),
                (indexed(0, spelled("call_1", "look")), Value::Null),
                (indexed(1, spelled("call_2", "go")), Value::Null),
                (json!({}), json!("tool_calls")),
            ]
        );
    }

    #[test]
    fn a_stream_says_what_it_cost_if_it_was_asked_to() {
        let mut reply = reply(true);
        let mut frames = reply.begin();
        frames.extend(reply.piece(Piece::Over(Over::Done, cost())));
        let chunks: Vec<Value> = frames
            .iter()
            .filter(|frame| frame.data != "[DONE]")
            .map(|frame| serde_json::from_str(&frame.data).unwrap())
            .collect();
        let seen: Vec<_> = chunks
            .iter()
            .map(|chunk| {
                (
                    chunk["choices"].as_array().unwrap().len(),
                    &chunk["usage"]["total_tokens"],
                )
            })
            .collect();
        assert_eq!(seen, [(1, &Value::Null), (1, &Value::Null), (0, &json!(11))]);
    }

    #[test]
    fn a_stream_that_fails_ends_with_the_error() {
        let error = ApiError::bad_request("code", "no");
        assert_eq!(
            reply(true).failed(&error),
            [Frame::of(
                &json!({ "error": { "message": "no", "type": "invalid_request_error", "param": null, "code": "code" } })
            )]
        );
    }
}
