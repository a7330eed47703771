//! Shapes what a tool answered, or why it did not, for the program that called it.

use codecell_bridge::{Json, NoticeKind, Thrown};
use codecell_catalog::Tool;
use codecell_namespaces::{NamespaceError, PathError};
use codecell_tools::{CallError, Delivered, ToolError};
use serde_json::Value;

/// Longest error text taken over from a tool.
const MAX_TOOL_ERROR_CHARS: usize = 4_000;

/// A value for the guest, and what to say of it.
pub(crate) struct Carried {
    pub(crate) value: Json,
    pub(crate) warning: Option<(NoticeKind, String)>,
}

impl Carried {
    pub(crate) fn plain(value: Json) -> Self {
        Self { value, warning: None }
    }
}

/// The structured value of a tool; a tool that says it failed throws.
pub(crate) fn value_of(tool: &Tool, delivered: Delivered) -> Result<Carried, Thrown> {
    let result = delivered.result;
    if result.is_error {
        return Err(Thrown {
            details: Some(result.result.clone()),
            ..Thrown::error("tool_error", error_text(tool, &result.result))
        });
    }
    Ok(Carried {
        value: result.value.unwrap_or(result.result),
        warning: delivered
            .broken_contract
            .map(|message| (NoticeKind::Contract, message)),
    })
}

/// `{ tool, result }`, error results included.
pub(crate) fn envelope(tool: &Tool, delivered: Delivered) -> Result<Carried, Thrown> {
    let entry = serde_json::to_string(tool.entry())
        .map_err(|error| Thrown::error("internal_error", error.to_string()))?;
    let text = format!(r#"{{"tool":{entry},"result":{}}}"#, delivered.result.result);
    let value = Json::parse(&text).map_err(|error| Thrown::error("internal_error", error.to_string()))?;
    Ok(Carried {
        value,
        warning: beside_result(tool, delivered),
    })
}

/// An MCP result as it came.
pub(crate) fn mcp_result(tool: &Tool, delivered: Delivered) -> Carried {
    Carried {
        value: delivered.result.result.clone(),
        warning: beside_result(tool, delivered),
    }
}

/// What is said beside a result that the program sees whole.
fn beside_result(tool: &Tool, delivered: Delivered) -> Option<(NoticeKind, String)> {
    if delivered.result.is_error {
        return Some((NoticeKind::ToolError, error_text(tool, &delivered.result.result)));
    }
    delivered
        .broken_contract
        .map(|message| (NoticeKind::Contract, message))
}

/// What a tool that failed says of it: the text of its result, or the result.
fn error_text(tool: &Tool, result: &Json) -> String {
    #[derive(serde::Deserialize)]
    struct Texts {
        #[serde(default)]
        content: Vec<Value>,
    }
    let texts: Vec<String> = result
        .read::<Texts>()
        .map(|result| {
            result
                .content
                .iter()
                .filter_map(|block| block.get("text")?.as_str().map(str::to_owned))
                .collect()
        })
        .unwrap_or_default();
    let said = if texts.is_empty() {
        result.as_str().to_owned()
    } else {
        texts.join("\n")
    };
    bounded(format!("tool `{}` reported an error: {said}", tool.id().as_str()))
}

pub(crate) fn thrown_by_path(error: &PathError) -> Thrown {
    let code = match error {
        PathError::Unavailable { .. } => "unavailable",
        _ => "invalid_input",
    };
    Thrown::error(code, error.to_string())
}

fn thrown_by_tool(error: ToolError) -> Thrown {
    Thrown {
        details: error.details,
        ..Thrown::error(error.code, bounded(error.message))
    }
}

/// What a program catches when a call was not made or gave nothing.
pub(crate) fn thrown_by_call(error: CallError) -> Thrown {
    let name = match error {
        CallError::Tool(error) => return thrown_by_tool(error),
        CallError::Arguments(_) => "TypeError",
        CallError::TooLarge { .. } => "RangeError",
        _ => "Error",
    };
    Thrown {
        name: name.into(),
        details: error.details(),
        ..Thrown::error(error.code(), bounded(error.to_string()))
    }
}

pub(crate) fn thrown_by_namespace(error: &NamespaceError) -> Thrown {
    match error {
        NamespaceError::Arguments { .. } => Thrown {
            code: Some("invalid_input".into()),
            ..Thrown::type_error(error.to_string())
        },
        _ => Thrown::error("invalid_input", error.to_string()),
    }
}

/// Keeps the head of a text that somebody else wrote.
fn bounded(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_TOOL_ERROR_CHARS) {
        let left_out = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({left_out} bytes left out)"));
    }
    text
}
