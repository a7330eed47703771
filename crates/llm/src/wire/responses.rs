//! `OpenAI` Responses.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{ProviderError, object};
use crate::{
    Api, Block, Content, Delivery, Frame, Image, Message, Request, StopReason, Tool, ToolChoice, ToolResult,
    Usage,
    decode::{Fault, Progress},
    draft::Draft,
};

const API: Api = Api::OpenAiResponses;

pub(crate) fn encode(request: &Request, delivery: Delivery) -> Map<String, Value> {
    let input: Vec<Value> = request
        .messages
        .iter()
        .flat_map(|message| items(message, &request.model))
        .collect();
    let mut body = object(json!({
        "model": request.model,
        "instructions": request.system,
        "input": input,
        "max_output_tokens": request.max_output_tokens,
        "temperature": request.temperature,
        "prompt_cache_key": request.session,
        "store": false,
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
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        // Strict mode wants every property required; optional ones are normal here.
        "strict": false,
    })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({ "type": "function", "name": name }),
    }
}

fn items(message: &Message, model: &str) -> Vec<Value> {
    match message {
        Message::User(content) => {
            let content: Vec<Value> = content.iter().map(part).collect();
            vec![json!({ "type": "message", "role": "user", "content": content })]
        }
        Message::Assistant(blocks) => blocks.iter().filter_map(|block| item(block, model)).collect(),
        Message::ToolResult(result) => vec![json!({
            "type": "function_call_output",
            "call_id": result.call_id,
            "output": output(result),
        })],
    }
}

fn output(result: &ToolResult) -> Value {
    if result.images.is_empty() {
        return result.text.as_str().into();
    }
    let text = json!({ "type": "input_text", "text": result.text });
    std::iter::once(text)
        .chain(result.images.iter().map(image))
        .collect()
}

fn part(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({ "type": "input_text", "text": text }),
        Content::Image(picture) => image(picture),
    }
}

fn image(image: &Image) -> Value {
    json!({ "type": "input_image", "image_url": image.data_url() })
}

fn item(block: &Block, model: &str) -> Option<Value> {
    let item = match block {
        Block::Text(text) => json!({
            "type": "message",
            "role": "assistant",
            "content": [{ "type": "output_text", "text": text }],
        }),
        Block::Thinking { text, signature } => {
            let sealed = signature.as_ref()?.value_for(API, model)?;
            let summary = if text.is_empty() {
                json!([])
            } else {
                json!([{ "type": "summary_text", "text": text }])
            };
            json!({ "type": "reasoning", "summary": summary, "encrypted_content": sealed })
        }
        Block::RedactedThinking(_) => return None,
        Block::ToolCall(call) => json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments_text(),
        }),
    };
    Some(item)
}

#[derive(Deserialize)]
struct StreamEvent {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    output_index: u64,
    delta: Option<String>,
    arguments: Option<String>,
    item: Option<Item>,
    response: Option<Response>,
    // An `error` event has its fields at the top, or in `error`.
    error: Option<ProviderError>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Response {
    id: Option<String>,
    model: Option<String>,
    status: Option<String>,
    #[serde(default)]
    output: Vec<Item>,
    usage: Option<Tokens>,
    error: Option<ProviderError>,
    incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    input_tokens_details: Option<Cached>,
}

#[derive(Deserialize)]
struct Cached {
    #[serde(default)]
    cached_tokens: u64,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    content: Option<Vec<Part>>,
    summary: Option<Vec<Part>>,
    encrypted_content: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    refusal: Option<String>,
}

pub(crate) fn frame(draft: &mut Draft, frame: &Frame) -> Result<Progress, Fault> {
    if frame.data == "[DONE]" {
        return Ok(Progress::More);
    }
    let event: StreamEvent = serde_json::from_str(&frame.data)?;
    let index = event.output_index;
    let delta = event.delta.as_deref().unwrap_or_default();
    match event.kind.as_str() {
        "response.created" => {
            if let Some(response) = event.response {
                draft.id = response.id;
                draft.model = response.model;
            }
        }
        "response.output_text.delta" | "response.refusal.delta" => draft.text(index, delta),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            draft.thinking(index, delta);
        }
        "response.output_item.added" => {
            if let Some(item) = event.item.filter(|item| item.kind == "function_call") {
                draft.call(index, item.call_id.as_deref(), &item.name.unwrap_or_default());
            }
        }
        "response.function_call_arguments.delta" => {
            known(draft.arguments(index, delta))?;
        }
        "response.function_call_arguments.done" => {
            known(draft.all_arguments(index, event.arguments.as_deref().unwrap_or_default()))?;
        }
        "response.output_item.done" => {
            if let Some(item) = event.item {
                complete(draft, index, &item)?;
            }
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            let response = event
                .response
                .ok_or_else(|| Fault::Malformed(format!("`{}` without a response", event.kind)))?;
            return ended(draft, response).map(Progress::Ended);
        }
        "error" => {
            let reason = event
                .error
                .map(ProviderError::text)
                .or(event.message)
                .unwrap_or_else(|| ProviderError::default().text());
            return Err(Fault::Provider(reason));
        }
        _ => {}
    }
    Ok(Progress::More)
}

fn known(known: bool) -> Result<(), Fault> {
    if known {
        Ok(())
    } else {
        Err(Fault::Malformed(
            "arguments of a call that did not begin, or that differ from those before".to_owned(),
        ))
    }
}

/// Takes an item as a whole: what no delta told of it is added.
fn complete(draft: &mut Draft, index: u64, item: &Item) -> Result<(), Fault> {
    match item.kind.as_str() {
        "function_call" => {
            draft.call(
                index,
                item.call_id.as_deref(),
                item.name.as_deref().unwrap_or_default(),
            );
            known(draft.all_arguments(index, item.arguments.as_deref().unwrap_or_default()))?;
        }
        "message" if !draft.has_text(index) => {
            for part in item.content.iter().flatten() {
                let said = part.text.as_deref().or(part.refusal.as_deref());
                draft.text(index, said.unwrap_or_default());
            }
        }
        "reasoning" => {
            if !draft.has_thinking(index) {
                for part in item.summary.iter().flatten() {
                    draft.thinking(index, part.text.as_deref().unwrap_or_default());
                }
            }
            draft.thinking_signature(index, item.encrypted_content.as_deref().unwrap_or_default());
        }
        _ => {}
    }
    Ok(())
}

fn ended(draft: &mut Draft, response: Response) -> Result<StopReason, Fault> {
    draft.id = response.id.or(draft.id.take());
    draft.model = response.model.or(draft.model.take());
    if let Some(tokens) = response.usage {
        let cached = tokens
            .input_tokens_details
            .map_or(0, |details| details.cached_tokens);
        draft.usage = Usage {
            input: tokens.input_tokens.saturating_sub(cached),
            output: tokens.output_tokens,
            cache_read: cached,
            cache_write: 0,
        };
    }
    match response.status.as_deref() {
        Some("completed") if draft.has_calls() => Ok(StopReason::ToolUse),
        Some("completed") => Ok(StopReason::Stop),
        Some("incomplete") => {
            let reason = response.incomplete_details.and_then(|details| details.reason);
            match reason.as_deref() {
                None | Some("max_output_tokens" | "max_tokens") => Ok(StopReason::Length),
                Some(other) => Ok(StopReason::Refused(other.to_owned())),
            }
        }
        Some("failed" | "cancelled") => Err(Fault::Provider(response.error.unwrap_or_default().text())),
        other => Err(Fault::Malformed(format!(
            "a response ended with the status `{}`",
            other.unwrap_or("none")
        ))),
    }
}

pub(crate) fn whole(draft: &mut Draft, body: &str) -> Result<StopReason, Fault> {
    let response: Response = serde_json::from_str(body)?;
    for (index, item) in (0..).zip(&response.output) {
        complete(draft, index, item)?;
    }
    ended(draft, response)
}
