//! What the end-to-end test measures with must be right.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Api, Call, Model, Reply, Turn};
use crate::http::{Incoming, Request};

/// Long enough that no test ever reaches it.
const AMPLE: Duration = Duration::from_secs(60);

/// The same conversation in each format: the model has called `look`, and is told what it found.
fn conversation(api: Api) -> (&'static str, Value) {
    let schema = json!({ "type": "object" });
    match api {
        Api::Responses => (
            "/v1/responses",
            json!({
                "model": "m", "stream": true, "instructions": "Be brief.",
                "tools": [{ "type": "function", "name": "look", "description": "Looks.", "parameters": schema }, { "type": "web_search" }],
                "input": [
                    { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Go." }] },
                    { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}" },
                    { "type": "function_call_output", "call_id": "c1", "output": "[1]" }
                ]
            }),
        ),
        Api::Chat => (
            "/v1/chat/completions",
            json!({
                "model": "m", "stream": true,
                "tools": [{ "type": "function", "function": { "name": "look", "description": "Looks.", "parameters": schema } }, { "type": "web_search" }],
                "messages": [
                    { "role": "system", "content": "Be brief." }, { "role": "user", "content": "Go." },
                    { "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{}" } }] },
                    { "role": "tool", "tool_call_id": "c1", "content": "[1]" }
                ]
            }),
        ),
        Api::Messages => (
            "/v1/messages",
            json!({
                "model": "m", "stream": true, "system": [{ "type": "text", "text": "Be brief." }],
                "tools": [{ "name": "look", "description": "Looks.", "input_schema": schema }, { "type": "web_search", "name": "web_search" }],
                "messages": [
                    { "role": "user", "content": "Go." },
                    { "role": "assistant", "content": [{ "type": "tool_use", "id": "c1", "name": "look", "input": {} }] },
                    { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": "[1]" }] }
                ]
            }),
        ),
        Api::Google => (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({
                "systemInstruction": { "parts": [{ "text": "Be brief." }] },
                "tools": [{ "functionDeclarations": [{ "name": "look", "description": "Looks.", "parametersJsonSchema": schema }], "web_search": {} }],
                "contents": [
                    { "role": "user", "parts": [{ "text": "Go." }] },
                    { "role": "model", "parts": [{ "functionCall": { "id": "c1", "name": "look", "args": {} } }] },
                    { "role": "user", "parts": [{ "functionResponse": { "id": "c1", "name": "look", "response": { "output": [1] } } }] }
                ]
            }),
        ),
    }
}

fn ask(model: &Model, api: Api) -> Result<Incoming> {
    let (path, body) = conversation(api);
    let key = if api == Api::Responses || api == Api::Chat {
        "Bearer k"
    } else {
        "k"
    };
    Request::post(path, &body)
        .header(api.key_header(), key)
        .send(model.address(), AMPLE)
}

#[test]
fn a_request_of_any_format_is_seen_as_one() {
    for api in Api::ALL {
        let model = Model::start(api).unwrap();
        model.say(Reply::text("Seen."));
        assert_eq!(ask(&model, api).unwrap().whole().unwrap().status, 200);
        let seen = model.finish().unwrap().pop().unwrap();
        let name = api.name();
        assert_eq!(
            (seen.model.as_str(), seen.streamed, seen.system.as_str()),
            ("m", true, "Be brief."),
            "{name}"
        );
        assert_eq!(seen.key.as_deref(), Some("k"), "{name}");
        assert!(
            !seen
                .headers
                .iter()
                .any(|(_, value)| value.contains('k') && value.len() < 9),
            "{name}"
        );
        let tools: Vec<_> = seen
            .tools
            .iter()
            .map(|tool| (tool.kind.as_str(), tool.name.as_str()))
            .collect();
        assert_eq!(
            tools,
            [("function", "look"), ("web_search", "web_search")],
            "{name}"
        );
        assert_eq!(
            seen.tool("look").unwrap().schema,
            json!({ "type": "object" }),
            "{name}"
        );
        let said: Vec<_> = seen
            .messages
            .iter()
            .map(|said| (said.role.as_str(), said.text.as_str()))
            .collect();
        assert_eq!(said[..2], [("user", "Go."), ("assistant", "")], "{name}");
        assert_eq!(seen.messages[1].calls, ["look"], "{name}");
        let result = seen.last().unwrap();
        assert_eq!(
            (result.call.as_str(), result.text.as_str()),
            ("c1", "[1]"),
            "{name}"
        );
    }
}

/// Strings under these keys, in order, joined: what deltas come to.
fn joined(value: &Value, keys: &[&str], into: &mut String) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| joined(value, keys, into)),
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if keys.contains(&key.as_str()) => into.push_str(text),
                    value => joined(value, keys, into),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn a_stream_comes_to_what_the_script_says_however_it_is_torn() {
    let turn = Turn {
        text: "Grüße, 🦀!".to_owned(),
        calls: vec![Call::new("look", json!({ "at": "Zürich\n" }))],
    };
    for api in Api::ALL {
        for reply in [Reply::Turn(turn.clone()), Reply::Awkward(turn.clone())] {
            let model = Model::start(api).unwrap();
            model.say(reply);
            let mut incoming = ask(&model, api).unwrap();
            let mut text = String::new();
            while let Some((name, data)) = incoming.event().unwrap() {
                let Ok(event) = serde_json::from_str::<Value>(&data) else {
                    assert_eq!(data, "[DONE]");
                    continue;
                };
                if name.is_empty() || name.ends_with("delta") {
                    joined(
                        &event,
                        &["content", "text", "delta", "arguments", "partial_json", "at"],
                        &mut text,
                    );
                }
            }
            let arguments = if api == Api::Google {
                "Zürich\n"
            } else {
                r#"{"at":"Zürich\n"}"#
            };
            assert_eq!(text, format!("Grüße, 🦀!{arguments}"), "{}", api.name());
        }
    }
}

#[test]
fn a_client_sees_faults_as_they_are_and_the_script_what_was_not_planned() {
    for api in Api::ALL {
        let model = Model::start(api).unwrap();
        model.say(Reply::Cut(Turn::text("never to the end"), 2));
        let mut incoming = ask(&model, api).unwrap();
        assert!(
            (0..3).any(|_| incoming.event().is_err()),
            "a cut stream ended well"
        );
        model.say(Reply::Refused {
            status: 429,
            retry_after: Some("7"),
            message: "no",
        });
        let answer = ask(&model, api).unwrap().whole().unwrap();
        assert_eq!(
            (answer.status, answer.head.header("retry-after")),
            (429, Some("7"))
        );
        model.say(Reply::Hang);
        let (path, body) = conversation(api);
        drop(Request::post(path, &body).begin(model.address(), AMPLE).unwrap());
        model.left(1, AMPLE).unwrap();
        assert_eq!(model.finish().unwrap().len(), 3);
        assert_eq!(ask(&model, api).unwrap().status, 400);
        assert!(
            model
                .finish()
                .unwrap_err()
                .to_string()
                .contains("was not expected")
        );
    }
}
