//! Anthropic Messages.

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{ProviderError, Turn, object, turns};
use crate::{
    Api, Block, Content, Delivery, Frame, Image, Message, Request, StopReason, Tool, ToolChoice, ToolResult,
    Usage,
    decode::{Fault, Progress},
    draft::Draft,
};

const API: Api = Api::AnthropicMessages;

/// Most tokens of an answer when the caller names no number: this protocol demands one.
const DEFAULT_MAX_TOKENS: u64 = 8192;

pub(crate) fn encode(request: &Request, delivery: Delivery) -> Map<String, Value> {
    let messages: Vec<Value> = turns(&request.messages)
        .iter()
        .map(|turn| message(turn, &request.model))
        .collect();
    let mut body = object(json!({
        "model": request.model,
        "max_tokens": request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        "system": request.system,
        "messages": messages,
        "temperature": request.temperature,
        "stream": delivery == Delivery::Streamed,
    }));
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), tools.into());
        body.insert("tool_choice".to_owned(), choice(&request.tool_choice));
    }
    body
}

fn tool(tool: &Tool) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::None => json!({ "type": "none" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    }
}

fn message(turn: &Turn<'_>, model: &str) -> Value {
    let (role, content): (_, Vec<Value>) = match turn {
        Turn::Results(results) => ("user", results.iter().map(|result| answer(result)).collect()),
        Turn::One(Message::ToolResult(result)) => ("user", vec![answer(result)]),
        Turn::One(Message::User(content)) => ("user", content.iter().map(part).collect()),
        Turn::One(Message::Assistant(blocks)) => {
            let blocks = blocks.iter().filter_map(|block| said(block, model));
            ("assistant", blocks.collect())
        }
    };
    json!({ "role": role, "content": content })
}

fn answer(result: &ToolResult) -> Value {
    json!({
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": answer_content(result),
        "is_error": result.is_error,
    })
}

fn answer_content(result: &ToolResult) -> Value {
    if result.images.is_empty() {
        return result.text.as_str().into();
    }
    // Empty texts are refused.
    let text = (!result.text.is_empty()).then(|| json!({ "type": "text", "text": result.text }));
    text.into_iter().chain(result.images.iter().map(image)).collect()
}

fn image(image: &Image) -> Value {
    json!({
        "type": "image",
        "source": { "type": "base64", "media_type": image.mime_type, "data": image.data },
    })
}

fn part(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({ "type": "text", "text": text }),
        Content::Image(picture) => image(picture),
    }
}

fn said(block: &Block, model: &str) -> Option<Value> {
    let block = match block {
        // Empty texts are refused.
        Block::Text(text) if text.is_empty() => return None,
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Thinking { text, signature } => {
            let signature = signature.as_ref()?.value_for(API, model)?;
            json!({ "type": "thinking", "thinking": text, "signature": signature })
        }
        Block::RedactedThinking(sealed) => {
            json!({ "type": "redacted_thinking", "data": sealed.value_for(API, model)? })
        }
        Block::ToolCall(call) => json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": call.arguments_object(),
        }),
    };
    Some(block)
}

#[derive(Deserialize)]
struct StreamEvent<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    message: Option<Answer<'a>>,
    #[serde(borrow)]
    content_block: Option<Part<'a>>,
    delta: Option<Delta>,
    usage: Option<Tokens>,
    error: Option<ProviderError>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: Option<String>,
    model: Option<String>,
    #[serde(borrow, default)]
    content: Vec<Part<'a>>,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
    id: Option<String>,
    name: Option<String>,
    // Kept as text: numbers of any size stay what they are.
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    reason: Option<String>,
    /// The input of a call that began: it counts if no piece of one follows.
    first_input: Option<String>,
}

impl State {
    pub(crate) fn frame(&mut self, draft: &mut Draft, frame: &Frame) -> Result<Progress, Fault> {
        let event: StreamEvent<'_> = serde_json::from_str(&frame.data)?;
        match event.kind.as_str() {
            "message_start" => {
                if let Some(message) = event.message {
                    head(draft, &message);
                }
            }
            "content_block_start" => {
                if let Some(part) = event.content_block {
                    open(draft, event.index, &part);
                    self.first_input = part.input.map(|input| input.get().to_owned());
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.delta(draft, event.index, &delta)?;
                }
            }
            "content_block_stop" => {
                if let Some(input) = self.first_input.take() {
                    draft.arguments(event.index, &input);
                }
            }
            "message_delta" => {
                count(draft, event.usage.as_ref());
                self.reason = event
                    .delta
                    .and_then(|delta| delta.stop_reason)
                    .or(self.reason.take());
            }
            "message_stop" => return stopped(self.reason.as_deref()).map(Progress::Ended),
            "error" => return Err(Fault::Provider(event.error.unwrap_or_default().text())),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn delta(&mut self, draft: &mut Draft, index: u64, delta: &Delta) -> Result<(), Fault> {
        draft.text(index, delta.text.as_deref().unwrap_or_default());
        draft.thinking(index, delta.thinking.as_deref().unwrap_or_default());
        draft.thinking_signature(index, delta.signature.as_deref().unwrap_or_default());
        let Some(piece) = delta.partial_json.as_deref().filter(|piece| !piece.is_empty()) else {
            return Ok(());
        };
        self.first_input = None;
        // Tools that the provider runs have arguments too; nobody here is asked to call those.
        draft.arguments(index, piece);
        Ok(())
    }
}

fn head(draft: &mut Draft, message: &Answer<'_>) {
    draft.id.clone_from(&message.id);
    draft.model.clone_from(&message.model);
    count(draft, message.usage.as_ref());
}

fn open(draft: &mut Draft, index: u64, part: &Part<'_>) {
    match part.kind.as_str() {
        "text" => draft.text(index, part.text.as_deref().unwrap_or_default()),
        "thinking" => {
            draft.thinking(index, part.thinking.as_deref().unwrap_or_default());
            draft.thinking_signature(index, part.signature.as_deref().unwrap_or_default());
        }
        "redacted_thinking" => draft.redacted_thinking(index, part.data.as_deref().unwrap_or_default()),
        "tool_use" => draft.call(
            index,
            part.id.as_deref(),
            part.name.as_deref().unwrap_or_default(),
        ),
        _ => {}
    }
}

/// Takes counts. They are totals, and what is not said stays as it was.
fn count(draft: &mut Draft, tokens: Option<&Tokens>) {
    let Some(tokens) = tokens else { return };
    let before = draft.usage;
    draft.usage = Usage {
        input: tokens.input_tokens.unwrap_or(before.input),
        output: tokens.output_tokens.unwrap_or(before.output),
        cache_read: tokens.cache_read_input_tokens.unwrap_or(before.cache_read),
        cache_write: tokens.cache_creation_input_tokens.unwrap_or(before.cache_write),
    };
}

fn stopped(reason: Option<&str>) -> Result<StopReason, Fault> {
    match reason {
        Some("end_turn" | "stop_sequence" | "pause_turn") => Ok(StopReason::Stop),
        Some("max_tokens" | "model_context_window_exceeded") => Ok(StopReason::Length),
        Some("tool_use") => Ok(StopReason::ToolUse),
        Some(other) => Ok(StopReason::Refused(other.to_owned())),
        None => Err(Fault::Malformed("the answer stopped without a reason".to_owned())),
    }
}

pub(crate) fn whole(draft: &mut Draft, body: &str) -> Result<StopReason, Fault> {
    let message: Answer<'_> = serde_json::from_str(body)?;
    head(draft, &message);
    for (index, part) in (0..).zip(&message.content) {
        open(draft, index, part);
        draft.arguments(index, part.input.map(RawValue::get).unwrap_or_default());
    }
    stopped(message.stop_reason.as_deref())
}
