//! Messages as text.
//!
//! rmcp reads and writes them; this differs where a gateway must not be fragile: what is no message gets an answer, and
//! a result can be sent as the exact text it was given in, integers of any size included.
use rmcp::ErrorData as McpError;
use rmcp::RoleServer;
use rmcp::model::{
    CustomResult, JsonRpcError, JsonRpcMessage, NumberOrString, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The key that marks a result which is written as text. No peer can forge it: only results pass this way.
const RAW_RESULT: &str = "codecell/raw-result";

/// Wraps the JSON text of a result, so that [`encode`] writes it as it is.
pub(crate) fn raw_result(text: String) -> CustomResult {
    CustomResult::new(json!({ RAW_RESULT: text }))
}

/// The length of a result wrapped by [`raw_result`], in bytes.
pub(crate) fn raw_len(result: &CustomResult) -> usize {
    let text = result.0.get(RAW_RESULT).and_then(Value::as_str);
    text.map_or(0, str::len)
}

/// What a text says: a message, nothing worth an answer, or the answer that tells the peer its mistake.
pub(crate) fn decode(text: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Box<JsonRpcError>> {
    const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii();
    if text.is_empty() {
        return Ok(None);
    }
    let reason = match serde_json::from_slice(text) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    let Ok(value) = serde_json::from_slice::<Value>(text) else {
        let error = McpError::parse_error(format!("the message is not JSON: {reason}"), None);
        return Err(Box::new(JsonRpcError::new(None, error)));
    };
    let id = value.get("id").and_then(request_id);
    if id.is_none() && value.get("method").is_some() {
        tracing::debug!(%reason, "a notification that cannot be read is ignored");
        return Ok(None);
    }
    let error = McpError::invalid_request("the message is not a JSON-RPC request", None);
    Err(Box::new(JsonRpcError::new(id, error)))
}

fn request_id(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(NumberOrString::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(NumberOrString::Number),
        _ => None,
    }
}

/// The text of a message, on one line.
///
/// # Errors
///
/// Fails when a result that was given as text is no JSON.
pub(crate) fn encode(message: &ServerJsonRpcMessage) -> Result<Vec<u8>, serde_json::Error> {
    let Some((id, text)) = raw_response(message) else {
        return serde_json::to_vec(message);
    };
    #[derive(serde::Serialize)]
    struct Response<'a> {
        jsonrpc: &'a str,
        id: &'a RequestId,
        result: &'a RawValue,
    }
    // A server may have laid out its answer over several lines. Within a JSON string there is no line end.
    let unfolded = text
        .contains(['\n', '\r'])
        .then(|| text.replace(['\n', '\r'], " "));
    let result: &RawValue = serde_json::from_str(unfolded.as_deref().unwrap_or(text))?;
    serde_json::to_vec(&Response {
        jsonrpc: "2.0",
        id,
        result,
    })
}

fn raw_response(message: &ServerJsonRpcMessage) -> Option<(&RequestId, &str)> {
    let JsonRpcMessage::Response(response) = message else {
        return None;
    };
    let ServerResult::CustomResult(CustomResult(value)) = &response.result else {
        return None;
    };
    Some((&response.id, value.get(RAW_RESULT)?.as_str()?))
}

#[cfg(test)]
mod tests {
    use rmcp::model::{NumberOrString, ServerJsonRpcMessage, ServerResult};

    use super::{encode, raw_result};

    #[test]
    fn a_raw_result_is_written_as_it_is_but_for_line_ends() {
        let cases = [
            (
                r#"{"big":123456789012345678901234567890,"b":1,"a":1.0}"#,
                r#"{"big":123456789012345678901234567890,"b":1,"a":1.0}"#,
            ),
            ("{\r\n  \"a\": \"x\\ny\"\n}\n", "{    \"a\": \"x\\ny\" }"),
        ];
        for (text, written) in cases {
            let message = ServerJsonRpcMessage::response(
                ServerResult::CustomResult(raw_result(text.to_owned())),
                NumberOrString::Number(3),
            );
            let line = String::from_utf8(encode(&message).unwrap()).unwrap();
            assert_eq!(
                line,
                format!("{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{written}}}")
            );
        }
    }
}
