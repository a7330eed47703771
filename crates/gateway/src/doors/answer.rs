//! Results as their readers get them: as text, so that no number is rounded and no field is lost.
use std::time::Duration;

use codecell::CellResult;
use rmcp::model::{CustomResult, ProtocolVersion};
use rmcp::service::RequestContext;
use rmcp::{ErrorData as McpError, RoleServer};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::wire::raw_result;

/// How long a caller may rely on the tool list. It changes only when a server's direct-only tools do, and then
/// callers are told as well.
const LIST_TTL: Duration = Duration::from_secs(300);

/// What there is to call.
pub(super) fn tool_list(
    tools: Vec<&Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CustomResult, McpError> {
    result(&ToolList {
        tools,
        hints: ListHints::of(context),
    })
}

#[derive(Serialize)]
struct ToolList<'a> {
    tools: Vec<&'a Value>,
    #[serde(flatten)]
    hints: Option<ListHints>,
}

/// What a list says of itself since revision 2026-07-28.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListHints {
    result_type: &'static str,
    ttl_ms: u128,
    cache_scope: &'static str,
}

impl ListHints {
    fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        is_modern(context).then_some(Self {
            result_type: COMPLETE,
            ttl_ms: LIST_TTL.as_millis(),
            cache_scope: "private",
        })
    }
}

const COMPLETE: &str = "complete";

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn result(value: &impl Serialize) -> Result<CustomResult, McpError> {
    match serde_json::to_string(value) {
        Ok(text) => Ok(raw_result(text)),
        Err(error) => Err(McpError::internal_error(
            format!("the result cannot be written: {error}"),
            None,
        )),
    }
}

/// A cell's result as MCP's result: the same JSON twice, structured and as text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CellAnswer<'a> {
    content: [TextBlock<'a>; 1],
    structured_content: &'a RawValue,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
}

#[derive(Serialize)]
struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

/// What came of a cell.
pub(super) fn cell_answer(
    cell: &CellResult,
    context: &RequestContext<RoleServer>,
) -> Result<CustomResult, McpError> {
    let text = cell.to_json_text();
    let structured_content = serde_json::from_str(&text)
        .map_err(|error| McpError::internal_error(format!("the result cannot be written: {error}"), None))?;
    result(&CellAnswer {
        content: [TextBlock {
            r#type: "text",
            text: &text,
        }],
        structured_content,
        is_error: cell.is_failed(),
        result_type: is_modern(context).then_some(COMPLETE),
    })
}

/// An upstream server's answer, unchanged but for the protocol field that this side of the gateway owns.
pub(super) fn direct_answer(
    answer: Result<String, String>,
    context: &RequestContext<RoleServer>,
) -> CustomResult {
    let text = match answer {
        Ok(result) => result,
        Err(message) => {
            json!({ "content": [{ "type": "text", "text": message }], "isError": true }).to_string()
        }
    };
    let text = match text.trim_start().strip_prefix('{') {
        Some(fields) if is_modern(context) => {
            let comma = if fields.trim_start().starts_with('}') {
                ""
            } else {
                ","
            };
            format!(r#"{{"resultType":"{COMPLETE}"{comma}{fields}"#)
        }
        _ => text,
    };
    raw_result(text)
}
