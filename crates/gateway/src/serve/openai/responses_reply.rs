//! What `POST /v1/responses` answers, whole and as events.
use codecell_agent::ClientCall;
use codecell_llm::Usage;
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::fields::with;
use super::ids;
use super::leg::{Over, Piece, read};
use super::stream::{Frame, Spelling};

/// A response that is being given: a message for each round that says something, then the calls.
#[derive(Clone, Debug)]
pub(super) struct ResponsesReply {
    id: String,
    /// In seconds since 1970.
    created: u64,
    /// What it repeats of the request.
    repeated: Value,
    /// The items that are complete.
    output: Vec<Value>,
    open: Option<OpenMessage>,
    /// How it ended; nothing while it goes on.
    end: Option<End>,
    /// Of the next event.
    sequence_number: u64,
}

/// A message that may get more text.
#[derive(Clone, Debug)]
struct OpenMessage {
    id: String,
    round: u32,
    text: String,
}

#[derive(Clone, Debug)]
struct End {
    status: &'static str,
    reason: Option<&'static str>,
    error: Value,
    usage: Value,
}

impl ResponsesReply {
    pub(super) fn new(id: String, created: u64, repeated: Value) -> Self {
        Self {
            id,
            created,
            repeated,
            output: Vec::new(),
            open: None,
            end: None,
            sequence_number: 0,
        }
    }

    /// The response as it is now.
    pub(super) fn whole(&self) -> Value {
        let end = self.end.as_ref();
        let whole = json!({
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": end.map_or("in_progress", |end| end.status),
            "error": end.map_or(&Value::Null, |end| &end.error),
            "incomplete_details": end.and_then(|end| end.reason).map(|reason| json!({ "reason": reason })),
            "output": self.output,
            "usage": end.map_or(&Value::Null, |end| &end.usage),
        });
        with(whole, self.repeated.clone())
    }

    fn event(&mut self, name: &'static str, fields: Value) -> Frame {
        let data = with(
            json!({ "type": name, "sequence_number": self.sequence_number }),
            fields,
        );
        self.sequence_number += 1;
        Frame {
            event: Some(name),
            data: data.to_string(),
        }
    }

    fn state(&mut self, name: &'static str) -> Frame {
        let response = self.whole();
        self.event(name, json!({ "response": response }))
    }

    fn say(&mut self, round: u32, text: &str) -> Vec<Frame> {
        let mut frames = Vec::new();
        if self.open.as_ref().is_some_and(|open| open.round != round) {
            frames.extend(self.close("completed"));
        }
        let index = self.output.len();
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                let id = ids::new("msg_");
                let item = message(&id, "in_progress", json!([]));
                frames.push(self.event(
                    "response.output_item.added",
                    json!({ "output_index": index, "item": item }),
                ));
                let part = json!({ "item_id": id, "output_index": index, "content_index": 0, "part": output_text("") });
                frames.push(self.event("response.content_part.added", part));
                OpenMessage {
                    id,
                    round,
                    text: String::new(),
                }
            }
        };
        open.text.push_str(text);
        let delta = json!({
            "item_id": open.id, "output_index": index, "content_index": 0, "delta": text, "logprobs": [],
        });
        frames.push(self.event("response.output_text.delta", delta));
        self.open = Some(open);
        frames
    }

    /// Ends the message that is open.
    fn close(&mut self, status: &str) -> Vec<Frame> {
        let Some(OpenMessage { id, text, .. }) = self.open.take() else {
            return Vec::new();
        };
        let index = self.output.len();
        let part = output_text(&text);
        let item = message(&id, status, json!([part]));
        self.output.push(item.clone());
        let place = |more| {
            with(
                json!({ "item_id": id, "output_index": index, "content_index": 0 }),
                more,
            )
        };
        vec![
            self.event(
                "response.output_text.done",
                place(json!({ "text": text, "logprobs": [] })),
            ),
            self.event("response.content_part.done", place(json!({ "part": part }))),
            self.event(
                "response.output_item.done",
                json!({ "output_index": index, "item": item }),
            ),
        ]
    }

    fn call(&mut self, call: &ClientCall) -> Vec<Frame> {
        let index = self.output.len();
        let id = ids::new("fc_");
        let item = |status: &str, arguments: &str| {
            json!({
                "id": id, "type": "function_call", "status": status,
                "call_id": call.id, "name": call.name, "arguments": arguments,
            })
        };
        let done = item("completed", &call.arguments);
        self.output.push(done.clone());
        let place = json!({ "output_index": index, "item": item("in_progress", "") });
        vec![
            self.event("response.output_item.added", place),
            self.event(
                "response.function_call_arguments.delta",
                json!({ "item_id": id, "output_index": index, "delta": call.arguments }),
            ),
            self.event(
                "response.function_call_arguments.done",
                json!({ "item_id": id, "output_index": index, "name": call.name, "arguments": call.arguments }),
            ),
            self.event(
                "response.output_item.done",
                json!({ "output_index": index, "item": done }),
            ),
        ]
    }

    fn end(&mut self, over: &Over, cost: Usage) -> Vec<Frame> {
        let (status, event, reason) = match over {
            Over::Calls(_) | Over::Done => ("completed", "response.completed", None),
            Over::Cut => ("incomplete", "response.incomplete", Some("max_output_tokens")),
            Over::Refused => ("incomplete", "response.incomplete", Some("content_filter")),
        };
        let mut frames = self.close(status);
        if let Over::Calls(calls) = over {
            for call in calls {
                frames.extend(self.call(call));
            }
        }
        self.end = Some(End {
            status,
            reason,
            error: Value::Null,
            usage: usage(cost),
        });
        frames.push(self.state(event));
        frames
    }
}

impl Spelling for ResponsesReply {
    fn begin(&mut self) -> Vec<Frame> {
        vec![self.state("response.created"), self.state("response.in_progress")]
    }

    fn piece(&mut self, piece: Piece) -> Vec<Frame> {
        match piece {
            Piece::Text { round, text } => self.say(round, &text),
            Piece::Over(over, cost) => self.end(&over, cost),
        }
    }

    fn failed(&mut self, error: &ApiError) -> Vec<Frame> {
        let mut frames = self.close("incomplete");
        self.end = Some(End {
            status: "failed",
            reason: None,
            error: json!({ "code": code(error), "message": error.body.message }),
            usage: Value::Null,
        });
        frames.push(self.state("response.failed"));
        frames
    }
}

/// The codes that clients know here are others than those of a status.
fn code(error: &ApiError) -> &'static str {
    match error.status.as_u16() {
        429 => "rate_limit_exceeded",
        400 => "invalid_prompt",
        _ => "server_error",
    }
}

fn message(id: &str, status: &str, content: Value) -> Value {
    json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content })
}

fn output_text(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

fn usage(usage: Usage) -> Value {
    let read = read(usage);
    json!({
        "input_tokens": read,
        "input_tokens_details": { "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write },
        "output_tokens": usage.output,
        // Which of them were reasoning the providers do not all say.
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": read.saturating_add(usage.output),
    })
}

#[cfg(test)]
mod tests;
