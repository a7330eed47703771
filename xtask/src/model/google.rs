//! Google `generateContent`.

use serde_json::{Value, json};

use super::{
    Frame,
    reply::{Turn, pieces},
    seen::{Answered, Offered, Said, Seen, content, list, text},
};

pub(super) fn read(body: &Value, seen: &mut Seen) {
    // Model and delivery are in the path.
    let (path, _) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
    let (model, method) = path
        .rsplit('/')
        .next()
        .and_then(|name| name.split_once(':'))
        .unwrap_or_default();
    (seen.model, seen.streamed) = (model.to_owned(), method == "streamGenerateContent");
    seen.system = content(&body["systemInstruction"]["parts"]);
    for group in list(&body["tools"]) {
        for (kind, tool) in group.as_object().into_iter().flatten() {
            if kind != "functionDeclarations" {
                seen.tools.push(Offered::hosted(kind, tool));
                continue;
            }
            for declaration in list(tool) {
                let whole = declaration.get("parametersJsonSchema");
                let schema = whole.unwrap_or(&declaration["parameters"]);
                seen.tools.push(Offered::function(declaration, schema));
            }
        }
    }
    for turn in list(&body["contents"]) {
        let role = match turn["role"].as_str() {
            Some("model") => "assistant",
            other => other.unwrap_or("user"),
        };
        let mut said = Said {
            role: role.to_owned(),
            text: content(&turn["parts"]),
            calls: Vec::new(),
        };
        for part in list(&turn["parts"]) {
            if let Some(call) = part.get("functionCall") {
                said.calls.push(text(&call["name"]));
            }
            if let Some(answer) = part.get("functionResponse") {
                let response = &answer["response"];
                let result = response
                    .get("output")
                    .or(response.get("error"))
                    .unwrap_or(response);
                let result = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
                let id = answer["id"]
                    .as_str()
                    .map_or_else(|| text(&answer["name"]), str::to_owned);
                seen.results.push(Answered {
                    call: id,
                    text: result,
                });
            }
        }
        seen.messages.push(said);
    }
}

fn chunk(parts: Value, finish: Option<&str>, turn: &Turn, seen: &Seen, number: usize) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let input = seen.body.to_string().len();
    json!({
        "candidates": [candidate], "modelVersion": seen.model, "responseId": format!("google-{number}"),
        "usageMetadata": {
            "promptTokenCount": input, "candidatesTokenCount": turn.tokens(), "totalTokenCount": input + turn.tokens()
        }
    })
}

/// Calls come whole and without an id.
fn calls(turn: &Turn) -> Vec<Value> {
    let calls = turn.calls.iter();
    calls
        .map(|call| json!({ "functionCall": { "name": call.name, "args": call.value() } }))
        .collect()
}

pub(super) fn whole(turn: &Turn, seen: &Seen, number: usize) -> Value {
    let text = (!turn.text.is_empty()).then(|| json!({ "text": turn.text }));
    let parts: Value = text.into_iter().chain(calls(turn)).collect();
    chunk(parts, Some("STOP"), turn, seen, number)
}

pub(super) fn stream(turn: &Turn, seen: &Seen, number: usize) -> Vec<Frame> {
    let texts = pieces(&turn.text)
        .into_iter()
        .map(|piece| json!({ "text": piece }));
    let mut frames: Vec<Frame> = texts
        .chain(calls(turn))
        .map(|part| Frame::data(&chunk(json!([part]), None, turn, seen, number)))
        .collect();
    frames.push(Frame::data(&chunk(
        json!([{ "text": "" }]),
        Some("STOP"),
        turn,
        seen,
        number,
    )));
    frames
}
