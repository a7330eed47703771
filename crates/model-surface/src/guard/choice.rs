//! What the request forces or limits the model to.

use serde_json::{Map, Value};

use super::WireShape;

/// The first thing a tool choice names that is not in `visible`.
pub(super) fn not_offered(body: &Map<String, Value>, shape: WireShape, visible: &[String]) -> Option<String> {
    let named = if shape == WireShape::GoogleGenerateContent {
        google(body)
    } else {
        body.get("tool_choice").map(chosen).unwrap_or_default()
    };
    named
        .into_iter()
        .find(|named| match named {
            Named::Function(name) => !visible.contains(name),
            Named::Other(_) => true,
        })
        .map(|named| match named {
            Named::Function(name) | Named::Other(name) => name,
        })
}

enum Named {
    Function(String),
    /// A hosted tool, or something nobody here can read.
    Other(String),
}

/// What an OpenAI-like or Anthropic choice names; the two share no spelling with different meanings.
fn chosen(choice: &Value) -> Vec<Named> {
    match choice {
        Value::Null => Vec::new(),
        Value::String(mode) => mode_or(mode),
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("allowed_tools") => {
                let list = fields
                    .get("tools")
                    .or_else(|| fields.get("allowed_tools").and_then(|inner| inner.get("tools")));
                match list.and_then(Value::as_array) {
                    Some(tools) => tools.iter().map(named_by).collect(),
                    None => vec![Named::Other("allowed_tools".to_owned())],
                }
            }
            Some("function" | "tool") => vec![named_by(choice)],
            Some(mode) => mode_or(mode),
            None => vec![Named::Other("no type".to_owned())],
        },
        _ => vec![Named::Other("no name".to_owned())],
    }
}

fn mode_or(mode: &str) -> Vec<Named> {
    match mode {
        "auto" | "none" | "required" | "any" => Vec::new(),
        other => vec![Named::Other(other.to_owned())],
    }
}

/// `{ type: "function", name }`, `{ type: "function", function: { name } }` or `{ type: "tool", name }`.
fn named_by(choice: &Value) -> Named {
    let kind = choice.get("type").and_then(Value::as_str).unwrap_or_default();
    let name = choice
        .get("name")
        .or_else(|| choice.get("function").and_then(|function| function.get("name")));
    match (kind, name.and_then(Value::as_str)) {
        ("function" | "tool", Some(name)) => Named::Function(name.to_owned()),
        _ => Named::Other(kind.to_owned()),
    }
}

fn google(body: &Map<String, Value>) -> Vec<Named> {
    let configs = ["toolConfig", "tool_config"]
        .iter()
        .filter_map(|key| body.get(*key));
    let callings = configs.flat_map(|config| {
        ["functionCallingConfig", "function_calling_config"]
            .into_iter()
            .filter_map(move |key| config.get(key))
    });
    let lists = callings.flat_map(|calling| {
        ["allowedFunctionNames", "allowed_function_names"]
            .into_iter()
            .filter_map(move |key| calling.get(key))
    });
    lists
        .flat_map(|list| match list {
            Value::Null => Vec::new(),
            Value::Array(names) => names
                .iter()
                .map(|name| match name {
                    Value::String(name) => Named::Function(name.clone()),
                    _ => Named::Other("no name".to_owned()),
                })
                .collect(),
            _ => vec![Named::Other("no list".to_owned())],
        })
        .collect()
}
