//! `OpenAI` Chat Completions, and what is compatible with it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{ProviderError, Turn, object, turns};
use crate::{
    Block, Content, Delivery, Frame, Image, Message, Request, StopReason, Tool, ToolChoice, ToolResult,
    Usage,
    decode::{Fault, Progress},
    draft::Draft,
};

pub(crate) fn encode(request: &Request, delivery: Delivery) -> Map<String, Value> {
    let system = request
        .system
        .iter()
        .map(|text| json!({ "role": "system", "content": text }));
    let said = turns(&request.messages);
    let messages: Vec<Value> = system.chain(said.iter().flat_map(messages)).collect();
    let mut body = object(json!({
        "model": request.model,
        "messages": messages,
        "max_completion_tokens": request.max_output_tokens,
        "temperature": request.temperature,
        "prompt_cache_key": request.session,
        "stream": delivery == Delivery::Streamed,
    }));
    if delivery == Delivery::Streamed {
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
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
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({ "type": "function", "function": { "name": name } }),
    }
}

fn messages(turn: &Turn<'_>) -> Vec<Value> {
    match turn {
        Turn::Results(results) => answers(results),
        Turn::One(Message::ToolResult(result)) => answers(&[result]),
        Turn::One(Message::User(content)) => vec![json!({ "role": "user", "content": user(content) })],
        Turn::One(Message::Assistant(blocks)) => vec![assistant(blocks)],
    }
}

/// Results are words only here. What there is to see follows them, and nothing may come between them.
fn answers(results: &[&ToolResult]) -> Vec<Value> {
    let answers = results.iter().map(|result| {
        json!({
            "role": "tool",
            "tool_call_id": result.call_id,
            "content": result.text,
        })
    });
    let seen: Vec<Value> = results
        .iter()
        .filter(|result| !result.images.is_empty())
        .flat_map(|result| {
            let text = format!("From the result of {}:", result.call_id);
            let text = json!({ "type": "text", "text": text });
            std::iter::once(text).chain(result.images.iter().map(image))
        })
        .collect();
    let seen = (!seen.is_empty()).then(|| json!({ "role": "user", "content": seen }));
    answers.chain(seen).collect()
}

/// Compatible servers often know plain text only.
fn user(content: &[Content]) -> Value {
    if let [Content::Text(text)] = content {
        return text.as_str().into();
    }
    content
        .iter()
        .map(|content| match content {
            Content::Text(text) => json!({ "type": "text", "text": text }),
            Content::Image(picture) => image(picture),
        })
        .collect()
}

fn image(image: &Image) -> Value {
    json!({ "type": "image_url", "image_url": { "url": image.data_url() } })
}

/// Reasoning has no place in this protocol and is left out.
fn assistant(blocks: &[Block]) -> Value {
    let mut text = String::new();
    let mut calls = Vec::new();
    for block in blocks {
        match block {
            Block::Text(more) => text.push_str(more),
            Block::ToolCall(call) => calls.push(json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": call.arguments_text() },
            })),
            Block::Thinking { .. } | Block::RedactedThinking(_) => {}
        }
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    let content = if text.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    Value::Object(message)
}

#[derive(Deserialize)]
struct Chunk {
    id: Option<String>,
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Tokens>,
    error: Option<ProviderError>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u64,
    delta: Option<Delta>,
    message: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    // Two spellings among compatible servers.
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    prompt_tokens_details: Option<Cached>,
}

#[derive(Deserialize)]
struct Cached {
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    stop: Option<StopReason>,
}

impl State {
    pub(crate) fn frame(&mut self, draft: &mut Draft, frame: &Frame) -> Result<Progress, Fault> {
        if frame.data.trim() == "[DONE]" {
            return match self.stop() {
                Some(stop) => Ok(Progress::Ended(stop)),
                None => Err(Fault::Malformed("`[DONE]` without a finish reason".to_owned())),
            };
        }
        // The counts come after the reason to stop, so that is not the end yet.
        if let Some(stop) = take(draft, &frame.data)? {
            self.stop = Some(stop);
        }
        Ok(Progress::More)
    }

    /// Why the answer stopped, once that is known.
    pub(crate) fn stop(&mut self) -> Option<StopReason> {
        self.stop.take()
    }
}

pub(crate) fn whole(draft: &mut Draft, body: &str) -> Result<StopReason, Fault> {
    take(draft, body)?.ok_or_else(|| Fault::Malformed("no choice with a finish reason".to_owned()))
}

fn take(draft: &mut Draft, text: &str) -> Result<Option<StopReason>, Fault> {
    let chunk: Chunk = serde_json::from_str(text)?;
    if let Some(error) = chunk.error {
        return Err(Fault::Provider(error.text()));
    }
    draft.id = draft.id.take().or(chunk.id);
    draft.model = draft.model.take().or(chunk.model);
    if let Some(tokens) = chunk.usage {
        draft.usage = usage(&tokens);
    }
    let mut stop = None;
    // One choice was asked for; others have nobody to read them.
    for choice in chunk
        .choices
        .unwrap_or_default()
        .into_iter()
        .filter(|choice| choice.index == 0)
    {
        if let Some(delta) = choice.delta.or(choice.message) {
            add(draft, delta)?;
        }
        if let Some(reason) = choice.finish_reason {
            stop = Some(stopped(&reason, draft.has_calls()));
        }
    }
    Ok(stop)
}

fn add(draft: &mut Draft, delta: Delta) -> Result<(), Fault> {
    let thought = delta.reasoning_content.or(delta.reasoning);
    draft.thinking(0, &thought.unwrap_or_default());
    draft.text(0, &delta.content.unwrap_or_default());
    draft.text(0, &delta.refusal.unwrap_or_default());
    for (position, call) in (0..).zip(delta.tool_calls.unwrap_or_default()) {
        let index = call.index.unwrap_or(position);
        let function = call.function.unwrap_or(Function {
            name: None,
            arguments: None,
        });
        if let Some(name) = function.name.filter(|name| !name.is_empty()) {
            draft.call(index, call.id.as_deref(), &name);
        }
        if !draft.arguments(index, &function.arguments.unwrap_or_default()) {
            let detail = format!("arguments of tool call {index}, which has no name yet");
            return Err(Fault::Malformed(detail));
        }
    }
    Ok(())
}

fn usage(tokens: &Tokens) -> Usage {
    let details = tokens.prompt_tokens_details.as_ref();
    let cached = details.and_then(|details| details.cached_tokens).unwrap_or(0);
    Usage {
        input: tokens.prompt_tokens.saturating_sub(cached),
        output: tokens.completion_tokens,
        cache_read: cached,
        cache_write: 0,
    }
}

fn stopped(reason: &str, has_calls: bool) -> StopReason {
    match reason {
        "length" => StopReason::Length,
        "content_filter" => StopReason::Refused(reason.to_owned()),
        // Some servers say `stop` although there are calls, some say `tool_calls` although there are none.
        _ if has_calls => StopReason::ToolUse,
        _ => StopReason::Stop,
    }
}
