//! The list of tools, entry by entry. What may stay is listed, not what must go: providers invent tools faster than
//! anybody writes them down.

use serde_json::{Map, Value};

use super::{ApprovedTools, Reason, Stripped, WireShape};

const FUNCTION: &str = "function";

/// Keeps the approved functions of `tools` and returns their names.
pub(super) fn filter(
    tools: &mut Vec<Value>,
    shape: WireShape,
    approved: &ApprovedTools,
    stripped: &mut Vec<Stripped>,
) -> Vec<String> {
    let mut visible = Vec::new();
    tools.retain_mut(|tool| match tool {
        Value::Object(group) if shape == WireShape::GoogleGenerateContent => {
            filter_group(group, approved, &mut visible, stripped)
        }
        _ => {
            let verdict = function_name(tool, shape).and_then(|name| approve(name, approved));
            settle(verdict, &mut visible, stripped)
        }
    });
    visible
}

fn settle(
    verdict: Result<String, Stripped>,
    visible: &mut Vec<String>,
    stripped: &mut Vec<Stripped>,
) -> bool {
    match verdict {
        Ok(name) => {
            visible.push(name);
            true
        }
        Err(gone) => {
            stripped.push(gone);
            false
        }
    }
}

fn approve(name: &str, approved: &ApprovedTools) -> Result<String, Stripped> {
    if approved.contains(name) {
        Ok(name.to_owned())
    } else {
        Err(Stripped::new(Reason::Unapproved, name))
    }
}

/// The name of a plain function; anything else says why it is none.
fn function_name(tool: &Value, shape: WireShape) -> Result<&str, Stripped> {
    let Value::Object(fields) = tool else {
        return Err(Stripped::new(Reason::Malformed, "not an object"));
    };
    match (shape, fields.get("type")) {
        // Without a type it is a tool of the caller; so is `custom`, which is not the `custom` of OpenAI.
        (WireShape::AnthropicMessages, None) => {}
        (WireShape::AnthropicMessages, Some(Value::String(kind))) if kind == "custom" => {}
        (WireShape::OpenAiResponses | WireShape::OpenAiCompletions, Some(Value::String(kind)))
            if kind == FUNCTION => {}
        (_, Some(Value::String(kind))) => return Err(Stripped::new(Reason::Hosted, kind)),
        _ => return Err(Stripped::new(Reason::Malformed, "no type")),
    }
    let outer = fields.get("name");
    let inner = fields.get(FUNCTION);
    let name = match (shape, outer, inner) {
        (WireShape::OpenAiCompletions, None, Some(Value::Object(function))) => function.get("name"),
        (WireShape::OpenAiResponses | WireShape::AnthropicMessages, name, None) => name,
        // Two places for a name: which one a server reads is a guess.
        (_, Some(_), Some(_)) => return Err(Stripped::new(Reason::Malformed, "two names")),
        _ => None,
    };
    name.and_then(Value::as_str)
        .ok_or_else(|| Stripped::new(Reason::Malformed, "no name"))
}

/// Leaves a Google group its approved declarations and nothing else; false if none are left.
fn filter_group(
    group: &mut Map<String, Value>,
    approved: &ApprovedTools,
    visible: &mut Vec<String>,
    stripped: &mut Vec<Stripped>,
) -> bool {
    group.retain(|key, value| {
        if !matches!(key.as_str(), "functionDeclarations" | "function_declarations") {
            stripped.push(Stripped::new(Reason::Hosted, key));
            return false;
        }
        let Value::Array(declarations) = value else {
            stripped.push(Stripped::new(Reason::Malformed, key));
            return false;
        };
        declarations.retain(|declaration| {
            let verdict = declaration
                .get("name")
                .and_then(Value::as_str)
                .ok_or_else(|| Stripped::new(Reason::Malformed, "no name"))
                .and_then(|name| approve(name, approved));
            settle(verdict, visible, stripped)
        });
        !declarations.is_empty()
    });
    !group.is_empty()
}
