//! The tools that an application brings.
use codecell::tools::ToolDefinition;
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::part::Part;

/// Where the two APIs put what a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Chat completions: in a `function` of its own.
    Nested,
    /// Responses: beside the `type`.
    Flat,
}

/// The functions of a request that may be called. With a `tool_choice` of `none` there are none of them.
///
/// A choice that makes the model call a tool is refused: in code mode it calls `exec` alone, and what the program
/// calls is not in the model's hand nor in ours. One call at a time is refused for the same reason.
pub(super) fn functions(body: &Part<'_>, shape: Shape) -> Result<Vec<ToolDefinition>, ApiError> {
    let mut functions = Vec::new();
    if let Some(tools) = body.get("tools") {
        for tool in tools.items()? {
            functions.push(function(&tool, shape)?);
        }
    }
    if let Some(one_at_a_time) = body.get("parallel_tool_calls")
        && !one_at_a_time.flag()?
        && !functions.is_empty()
    {
        return Err(one_at_a_time
            .unsupported("cannot be false: a program may call several tools at once, leave it out"));
    }
    match body.get("tool_choice") {
        None => Ok(functions),
        Some(choice) => {
            match choice.value().as_str() {
                Some("auto") => Ok(functions),
                Some("none") => Ok(Vec::new()),
                _ => Err(choice
                    .unsupported("must be `auto` or `none`: nothing can make the model call a tool here")),
            }
        }
    }
}

fn function(tool: &Part<'_>, shape: Shape) -> Result<ToolDefinition, ApiError> {
    let kind = tool.need("type")?;
    if kind.text()? != "function" {
        return Err(kind.unsupported("must be `function`: hosted tools are not offered"));
    }
    let function = match shape {
        Shape::Nested => tool.need("function")?.object()?,
        Shape::Flat => tool.clone(),
    };
    let description = function.get("description");
    let description = description.map(|text| text.text()).transpose()?;
    let parameters = function
        .get("parameters")
        .map(|parameters| parameters.object())
        .transpose()?
        .map_or_else(
            || json!({ "type": "object", "properties": {} }),
            |parameters| parameters.value().clone(),
        );
    Ok(ToolDefinition::new(
        function.need("name")?.text()?,
        description.unwrap_or_default(),
        parameters,
    ))
}

/// What was chosen of the tools, as a response says it.
pub(super) fn choice(body: &Part<'_>) -> Value {
    body.get("tool_choice")
        .map_or_else(|| json!("auto"), |choice| choice.value().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &Value, shape: Shape, expected: Result<&[&str], (&str, &str)>) {
        let part = Part::body(body).unwrap();
        let found = functions(&part, shape);
        match (found, expected) {
            (Ok(tools), Ok(names)) => {
                let found: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
                assert_eq!(found, names, "{body}");
            }
            (Err(error), Err((message, param))) => {
                assert_eq!(
                    (error.body.message.as_str(), error.body.param.as_deref()),
                    (message, Some(param)),
                    "{body}"
                );
            }
            (found, expected) => panic!("{body}: {found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn functions_are_read_in_both_shapes() {
        let nested = json!({ "type": "function", "function": { "name": "a", "strict": true } });
        let flat = json!({ "type": "function", "name": "a", "parameters": null });
        check(&json!({}), Shape::Flat, Ok(&[]));
        check(&json!({ "tools": [nested] }), Shape::Nested, Ok(&["a"]));
        check(
            &json!({ "tools": [flat], "tool_choice": "auto" }),
            Shape::Flat,
            Ok(&["a"]),
        );
        check(
            &json!({ "tools": [flat], "tool_choice": "none", "parallel_tool_calls": true }),
            Shape::Flat,
            Ok(&[]),
        );
        let part = json!({ "tools": [{ "type": "function", "function": { "name": "a", "description": "A.", "parameters": { "type": "object", "required": ["x"] } } }] });
        assert_eq!(
            functions(&Part::body(&part).unwrap(), Shape::Nested),
            Ok(vec![ToolDefinition::new(
                "a",
                "A.",
                json!({ "type": "object", "required": ["x"] })
            )])
        );
    }

    #[test]
    fn what_cannot_be_honoured_is_refused() {
        let flat = json!({ "type": "function", "name": "a" });
        let forced = "`tool_choice` must be `auto` or `none`: nothing can make the model call a tool here";
        for (body, message, param) in [
            (
                json!({ "tools": [flat, { "type": "web_search" }] }),
                "`tools[1].type` must be `function`: hosted tools are not offered",
                "tools[1].type",
            ),
            (
                json!({ "tools": [{ "type": "function" }] }),
                "`tools[0].name` is missing",
                "tools[0].name",
            ),
            (
                json!({ "tools": [{ "type": "function", "name": "a", "parameters": [] }] }),
                "`tools[0].parameters` must be an object",
                "tools[0].parameters",
            ),
            (
                json!({ "tools": [flat], "tool_choice": "required" }),
                forced,
                "tool_choice",
            ),
            (
                json!({ "tools": [flat], "tool_choice": { "type": "function", "name": "a" } }),
                forced,
                "tool_choice",
            ),
            (
                json!({ "tools": [flat], "parallel_tool_calls": false }),
                "`parallel_tool_calls` cannot be false: a program may call several tools at once, leave it out",
                "parallel_tool_calls",
            ),
        ] {
            check(&body, Shape::Flat, Err((message, param)));
        }
    }
}
