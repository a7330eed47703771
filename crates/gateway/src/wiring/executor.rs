//! Carries the calls of cells to the servers.
use std::sync::Arc;

use codecell::{BoxFuture, Json, McpRequest, Owner, ToolCall, ToolError, ToolExecutor, ToolResult};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::upstream::{CallError, CallOptions, Progress, Upstreams};

/// Calls tools where they are.
pub(crate) struct UpstreamTools {
    pub(super) upstreams: Upstreams,
}

impl ToolExecutor for UpstreamTools {
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let upstreams = self.upstreams.clone();
        Box::pin(async move {
            let Owner::Mcp(server) = call.owner() else {
                let message = format!("`{}` is no tool of an MCP server", call.tool.id());
                return Err(ToolError::new("unknown_tool", message));
            };
            let told = call.progress.clone();
            let heard = move |progress: Progress| told.tell(in_words(progress));
            let options = CallOptions {
                cancel: call.cancel.clone(),
                progress: call.progress.is_heard().then(|| Arc::new(heard) as _),
                read_only: call.says_read_only(),
            };
            let arguments = raw(&call.arguments)?;
            let result = upstreams
                .call_tool(server, call.name(), &arguments, options)
                .await
                .map_err(|e| tool_error(&e))?;
            read_result(result)
        })
    }

    fn mcp_request(&self, request: McpRequest) -> BoxFuture<Result<Json, ToolError>> {
        let upstreams = self.upstreams.clone();
        Box::pin(async move {
            // Lists and reads change nothing, so they may be repeated after a crash.
            let options = CallOptions {
                cancel: request.cancel,
                progress: None,
                read_only: true,
            };
            let params = request.params.as_ref().map(raw).transpose()?;
            let result = upstreams
                .request(&request.server, request.method, params.as_deref(), options)
                .await
                .map_err(|e| tool_error(&e))?;
            Ok(result.into())
        })
    }
}

/// What a server says of its progress, or the numbers if it only counts.
fn in_words(progress: Progress) -> String {
    let Progress {
        progress: done,
        total,
        message,
    } = progress;
    message.unwrap_or_else(|| match total {
        Some(total) => format!("{done} of {total}"),
        None => done.to_string(),
    })
}

fn raw(json: &Json) -> Result<Box<RawValue>, ToolError> {
    RawValue::from_string(json.as_str().to_owned()).map_err(|error| ToolError {
        code: "invalid_arguments",
        message: format!("the arguments are not JSON: {error}"),
        details: None,
    })
}

/// The parts of a tool result that matter here; the rest stays in its text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts<'a> {
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
}

fn read_result(result: Box<RawValue>) -> Result<ToolResult, ToolError> {
    let bad = |reason: String| ToolError {
        code: "bad_result",
        message: format!("the tool's result is not an object of MCP's shape: {reason}"),
        details: None,
    };
    // A sequence would be read as well, its elements taken for the fields.
    if !result.get().trim_start().starts_with('{') {
        return Err(bad("it is no object".into()));
    }
    let (value, is_error) = {
        let parts: Parts<'_> = serde_json::from_str(result.get()).map_err(|error| bad(error.to_string()))?;
        let value = parts.structured_content.map(|value| Json::from(value.to_owned()));
        // A server that says `"isError": "true"` means it, odd as it is.
        let is_error = parts
            .is_error
            .is_some_and(|flag| matches!(flag.get(), "true" | r#""true""#));
        (value, is_error)
    };
    Ok(ToolResult {
        result: result.into(),
        value,
        is_error,
    })
}

/// The error a program sees: its code says whether calling again makes sense.
fn tool_error(error: &CallError) -> ToolError {
    let code = match error {
        CallError::UnknownServer { .. } => "unknown_server",
        CallError::Excluded { .. } => "excluded",
        CallError::NotReady { .. } | CallError::Unread { .. } => "unavailable",
        CallError::NeedsAuth { .. } => "needs_auth",
        CallError::Disconnected { in_doubt: true, .. } => "in_doubt",
        CallError::Disconnected { in_doubt: false, .. } => "unavailable",
        CallError::TimedOut { .. } => "timed_out",
        CallError::Cancelled { .. } => "cancelled",
        CallError::TooLarge { .. } => "too_large",
        CallError::InputRequired { .. } => "input_required",
        CallError::Rpc { .. } | CallError::Http { .. } => "upstream_error",
        _ => "bad_result",
    };
    let details = match error {
        CallError::Rpc { code, data, .. } => Json::of(&RpcDetails {
            code: *code,
            data: data.as_deref(),
        })
        .ok(),
        _ => None,
    };
    ToolError {
        code,
        message: error.to_string(),
        details,
    }
}

#[derive(serde::Serialize)]
struct RpcDetails<'a> {
    code: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::read_result;

    #[test]
    fn the_structured_value_keeps_its_text_and_the_error_flag_is_read() {
        let cases = [
            (
                r#"{"content":[],"structuredContent":{"id":12345678901234567890123}}"#,
                Some(r#"{"id":12345678901234567890123}"#),
                false,
            ),
            (r#"{"content":[],"isError":true}"#, None, true),
            (r#"{"structuredContent":null,"isError":false}"#, None, false),
            (r#"{"isError":"true"}"#, None, true),
            ("{}", None, false),
        ];
        for (text, value, is_error) in cases {
            let read = read_result(RawValue::from_string(text.to_owned()).unwrap()).unwrap();
            assert_eq!(read.result.as_str(), text);
            assert_eq!(read.value.as_ref().map(|value| value.as_str()), value, "{text}");
            assert_eq!(read.is_error, is_error, "{text}");
        }
    }

    #[test]
    fn a_result_that_is_no_object_is_an_error() {
        let error = read_result(RawValue::from_string("[1]".to_owned()).unwrap()).unwrap_err();
        assert_eq!(error.code, "bad_result");
    }
}
