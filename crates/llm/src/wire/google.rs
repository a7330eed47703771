//! Google `generateContent`.

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{ProviderError, Turn, object, turns};
use crate::{
    Api, Block, Content, Frame, Image, Message, Request, StopReason, Tool, ToolChoice, ToolResult, Usage,
    decode::{Fault, Progress},
    draft::{Draft, Slot},
};

const API: Api = Api::GoogleGenerateContent;

pub(crate) fn encode(request: &Request) -> Map<String, Value> {
    let contents: Vec<Value> = turns(&request.messages)
        .iter()
        .map(|turn| content(turn, &request.model))
        .collect();
    let system = request
        .system
        .as_ref()
        .map(|text| json!({ "parts": [{ "text": text }] }));
    let limits = object(json!({
        "maxOutputTokens": request.max_output_tokens,
        "temperature": request.temperature,
    }));
    let mut body = object(json!({ "systemInstruction": system, "contents": contents }));
    if !limits.is_empty() {
        body.insert("generationConfig".to_owned(), limits.into());
    }
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), json!([{ "functionDeclarations": tools }]));
        body.insert(
            "toolConfig".to_owned(),
            json!({ "functionCallingConfig": choice(&request.tool_choice) }),
        );
    }
    body
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.parameters,
    })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    }
}

fn content(turn: &Turn<'_>, model: &str) -> Value {
    let (role, parts): (_, Vec<Value>) = match turn {
        Turn::Results(results) => ("user", answers(results)),
        Turn::One(Message::ToolResult(result)) => ("user", answers(&[result])),
        Turn::One(Message::User(content)) => ("user", content.iter().map(part).collect()),
        Turn::One(Message::Assistant(blocks)) => {
            let blocks = blocks.iter().filter_map(|block| said(block, model));
            ("model", blocks.collect())
        }
    };
    json!({ "role": role, "parts": parts })
}

/// Answers first: a call's place among them is how models without call ids find theirs.
fn answers(results: &[&ToolResult]) -> Vec<Value> {
    let images = results.iter().flat_map(|result| result.images.iter().map(image));
    results
        .iter()
        .map(|result| answer(result))
        .chain(images)
        .collect()
}

fn answer(result: &ToolResult) -> Value {
    let key = if result.is_error { "error" } else { "output" };
    json!({ "functionResponse": {
        "id": result.call_id,
        "name": result.name,
        "response": { key: result.text },
    } })
}

fn part(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({ "text": text }),
        Content::Image(picture) => image(picture),
    }
}

fn image(image: &Image) -> Value {
    json!({ "inlineData": { "mimeType": image.mime_type, "data": image.data } })
}

fn said(block: &Block, model: &str) -> Option<Value> {
    match block {
        Block::Text(text) => Some(json!({ "text": text })),
        Block::Thinking { text, signature } => {
            let signature = signature.as_ref()?.value_for(API, model)?;
            Some(json!({ "text": text, "thought": true, "thoughtSignature": signature }))
        }
        Block::RedactedThinking(_) => None,
        Block::ToolCall(call) => {
            let mut part = object(json!({ "functionCall": {
                "id": call.id,
                "name": call.name,
                "args": call.arguments_object(),
            } }));
            let signature = call.signature.as_ref();
            if let Some(signature) = signature.and_then(|signature| signature.value_for(API, model)) {
                part.insert("thoughtSignature".to_owned(), signature.into());
            }
            Some(Value::Object(part))
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default)]
    candidates: Vec<Candidate<'a>>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Tokens>,
    response_id: Option<String>,
    model_version: Option<String>,
    error: Option<ProviderError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    content: Option<Parts<'a>>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    thought_signature: Option<String>,
    #[serde(borrow)]
    function_call: Option<Call<'a>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    id: Option<String>,
    name: String,
    // Kept as text: numbers of any size stay what they are.
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Tokens {
    prompt_token_count: u64,
    cached_content_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    reason: Option<String>,
}

impl State {
    pub(crate) fn frame(&mut self, draft: &mut Draft, frame: &Frame) -> Result<Progress, Fault> {
        // Counts may follow the reason to stop, so the end is the end of the stream.
        if let Some(reason) = take(draft, &frame.data)? {
            self.reason = Some(reason);
        }
        Ok(Progress::More)
    }

    /// Why the answer stopped, once that is known.
    pub(crate) fn stop(&mut self, draft: &Draft) -> Option<StopReason> {
        self.reason.take().map(|reason| stopped(reason, draft))
    }
}

pub(crate) fn whole(draft: &mut Draft, body: &str) -> Result<StopReason, Fault> {
    match take(draft, body)? {
        Some(reason) => Ok(stopped(reason, draft)),
        None => Err(Fault::Malformed("no candidate with a finish reason".to_owned())),
    }
}

fn take(draft: &mut Draft, text: &str) -> Result<Option<String>, Fault> {
    let chunk: Chunk<'_> = serde_json::from_str(text)?;
    if let Some(error) = chunk.error {
        return Err(Fault::Provider(error.text()));
    }
    draft.id = draft.id.take().or(chunk.response_id);
    draft.model = draft.model.take().or(chunk.model_version);
    if let Some(tokens) = chunk.usage_metadata {
        draft.usage = Usage {
            input: tokens
                .prompt_token_count
                .saturating_sub(tokens.cached_content_token_count),
            output: tokens
                .candidates_token_count
                .saturating_add(tokens.thoughts_token_count),
            cache_read: tokens.cached_content_token_count,
            cache_write: 0,
        };
    }
    // A refused prompt has no candidate.
    let mut reason = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason);
    for candidate in chunk
        .candidates
        .into_iter()
        .filter(|candidate| candidate.index == 0)
    {
        for part in candidate.content.into_iter().flat_map(|content| content.parts) {
            add(draft, &part);
        }
        reason = candidate.finish_reason.or(reason);
    }
    Ok(reason)
}

/// Parts have no numbers here: what is of a kind with the part before continues it.
fn add(draft: &mut Draft, part: &Part<'_>) {
    let signature = part.thought_signature.as_deref().unwrap_or_default();
    let next = draft.len();
    if let Some(call) = &part.function_call {
        draft.call(next, call.id.as_deref(), &call.name);
        draft.arguments(next, call.args.map_or("{}", RawValue::get));
        if !signature.is_empty() {
            draft.call_signature(next, signature);
        }
        return;
    }
    let text = part.text.as_deref().unwrap_or_default();
    if part.thought {
        let index = match draft.last() {
            Some(Slot::Thinking(index)) => index,
            _ => next,
        };
        draft.thinking(index, text);
        draft.thinking_signature(index, signature);
    } else {
        let index = match draft.last() {
            Some(Slot::Text(index)) => index,
            _ => next,
        };
        draft.text(index, text);
    }
}

fn stopped(reason: String, draft: &Draft) -> StopReason {
    match reason.as_str() {
        "STOP" if draft.has_calls() => StopReason::ToolUse,
        "STOP" => StopReason::Stop,
        "MAX_TOKENS" => StopReason::Length,
        _ => StopReason::Refused(reason),
    }
}
