//! What a host sends to our MCP server, and what goes back: each text is a message, nothing, or a mistake that is told.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, NumberOrString, ServerJsonRpcMessage, ServerResult};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;
use serde_json::value::RawValue;

#[path = "../../crates/gateway/src/doors/wire.rs"]
mod wire;

fuzz_target!(|data: &[u8]| {
    incoming(data);
    if let Ok(text) = std::str::from_utf8(data) {
        outgoing(text);
    }
});

fn incoming(data: &[u8]) {
    match wire::decode(data) {
        Ok(Some(message)) => {
            // Read once, it is what it seems: written and read again, it is the same message.
            let written = serde_json::to_value(&message).expect("a message has a JSON form");
            let again: RxJsonRpcMessage<RoleServer> =
                serde_json::from_value(written.clone()).unwrap_or_else(|error| panic!("{error}: {written}"));
            assert_eq!(serde_json::to_value(&again).ok(), Some(written));
        }
        Ok(None) => {
            // Silence is for blank lines and for notifications: whoever has named an id waits for an answer.
            if let Ok(Value::Object(fields)) = serde_json::from_slice(data.trim_ascii()) {
                let waits = matches!(fields.get("id"), Some(Value::String(_)));
                assert!(!waits && fields.contains_key("method"), "no answer: {fields:?}");
            }
        }
        Err(error) => {
            let json = serde_json::from_slice::<Value>(data.trim_ascii()).is_ok();
            let bom = data.starts_with(b"\xEF\xBB\xBF");
            let code = error.error.code;
            assert!(code == ErrorCode::PARSE_ERROR || code == ErrorCode::INVALID_REQUEST);
            assert!(bom || json == (code == ErrorCode::INVALID_REQUEST), "{code:?}");
            let text = serde_json::to_string(&*error).expect("an error has a JSON form");
            assert!(!text.contains('\n'));
        }
    }
}

/// A result that passes through stays as it is, on one line: a line end inside would cut the message in two.
fn outgoing(text: &str) {
    let result = ServerResult::CustomResult(wire::raw_result(text.to_owned()));
    if let ServerResult::CustomResult(custom) = &result {
        assert_eq!(wire::raw_len(custom), text.len());
    }
    let message = ServerJsonRpcMessage::response(result, NumberOrString::Number(7));
    let unfolded = text.replace(['\n', '\r'], " ");
    let json = serde_json::from_str::<&RawValue>(&unfolded);
    match wire::encode(&message) {
        Ok(line) => {
            assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
            let said = json.expect("only JSON is written");
            let read: Vec<(&str, &RawValue)> = fields(&line);
            let [("jsonrpc", _), ("id", id), ("result", result)] = read[..] else {
                panic!("not a response: {read:?}");
            };
            assert_eq!(id.get(), "7");
            assert_eq!(result.get(), said.get());
        }
        Err(error) => assert!(json.is_err(), "{error}: {text}"),
    }
}

fn fields(line: &[u8]) -> Vec<(&str, &RawValue)> {
    #[derive(serde::Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        jsonrpc: &'a RawValue,
        #[serde(borrow)]
        id: &'a RawValue,
        #[serde(borrow)]
        result: &'a RawValue,
    }
    let read: Response<'_> = serde_json::from_slice(line).expect("a response is an object");
    vec![
        ("jsonrpc", read.jsonrpc),
        ("id", read.id),
        ("result", read.result),
    ]
}
