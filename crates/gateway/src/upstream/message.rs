//! JSON-RPC as text: values that pass through are never parsed, so no number and no field is lost.
use std::sync::Arc;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::{Value, json, value::RawValue};

use super::question;
use crate::config::Elicitation;

/// The stateless revision.
pub(super) const MODERN: &str = "2026-07-28";

/// The revision that `initialize` asks for.
pub(super) const NEWEST_LEGACY: &str = "2025-11-25";

/// Prefix of the `_meta` keys that belong to the protocol and not to the result.
const PROTOCOL_META: &str = "io.modelcontextprotocol/";

/// The object under an envelope's or a result's keys, order kept, values as sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(pub(super) Vec<(String, Box<RawValue>)>);

impl Fields {
    pub(crate) fn get(&self, key: &str) -> Option<&RawValue> {
        self.0
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| &**value)
    }

    pub(super) fn set(&mut self, key: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, slot)) => *slot = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    pub(crate) fn parse(text: &RawValue) -> Option<Self> {
        serde_json::from_str(text.get()).ok()
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(|raw| serde_json::from_str(raw.get()).ok())
    }

    pub(super) fn to_raw(&self) -> Box<RawValue> {
        raw(self)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Fields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    fields.push(pair);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Serialises what cannot fail to serialise; the fallback keeps this code free of panics.
pub(super) fn raw<T: Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// A message from a server, taken apart no further than needed.
#[derive(Debug)]
pub(super) enum Incoming {
    /// Answers one of our requests, or cannot be matched to any (`id: null`).
    Answer { id: Option<u64>, outcome: Outcome },
    /// The server asks something.
    Request {
        id: Box<RawValue>,
        method: String,
        params: Option<Box<RawValue>>,
    },
    /// The server tells something.
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
}

/// How a request ended, in the server's words.
pub(super) type Outcome = Result<Box<RawValue>, RpcError>;

/// A JSON-RPC error, read tolerantly.
#[derive(Debug, Clone)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Arc<RawValue>>,
}

/// Longest error message that is kept: some servers put whole pages into it.
const MAX_ERROR_CHARS: usize = 4_000;

impl RpcError {
    fn parse(text: &RawValue) -> Self {
        let fields = Fields::parse(text).unwrap_or_default();
        let code = fields
            .get("code")
            .and_then(|code| serde_json::from_str::<f64>(code.get()).ok());
        let message = fields.text("message").unwrap_or_else(|| text.get().to_owned());
        Self {
            code: code.map_or(0, |code| code as i64),
            message: clip(&message, MAX_ERROR_CHARS),
            data: fields.get("data").map(|data| Arc::from(data.to_owned())),
        }
    }
}

/// The head of a text, with a mark where something is missing.
pub(super) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// Reads one message; `None` if it is none.
pub(super) fn parse(text: &str) -> Option<Incoming> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
        method: Option<String>,
        #[serde(borrow)]
        params: Option<&'a RawValue>,
        #[serde(default, borrow, deserialize_with = "present")]
        result: Option<&'a RawValue>,
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    // `result: null` is an answer, so null must not read as absent.
    fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
        <&RawValue>::deserialize(deserializer).map(Some)
    }

    // An array would be read as the fields in their order.
    let text = text.trim_start();
    if !text.starts_with('{') {
        return None;
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    if let Some(method) = envelope.method {
        return Some(match envelope.id {
            Some(id) => Incoming::Request {
                id: id.to_owned(),
                method,
                params: envelope.params.map(ToOwned::to_owned),
            },
            None => Incoming::Notification {
                method,
                params: envelope.params.map(ToOwned::to_owned),
            },
        });
    }
    let id = envelope.id.and_then(|id| our_id(id.get()));
    let outcome = match (envelope.error, envelope.result) {
        (Some(error), _) => Err(RpcError::parse(error)),
        (None, Some(result)) => Ok(result.to_owned()),
        (None, None) => return None,
    };
    Some(Incoming::Answer { id, outcome })
}

/// Ids are ours, whole numbers; some servers send them back as strings.
fn our_id(text: &str) -> Option<u64> {
    text.trim_matches('"').parse().ok()
}

/// Reads a message or a batch of them, as the revision 2025-03-26 allowed.
pub(super) fn parse_all(text: &str) -> Vec<Incoming> {
    if text.starts_with('[') {
        let parts = elements(text, MAX_BATCH).unwrap_or_default();
        return parts.iter().filter_map(|part| parse(part.get())).collect();
    }
    parse(text).into_iter().collect()
}

/// Messages taken from one batch: this client sends none, so nobody has reason to answer with many.
const MAX_BATCH: usize = 1_000;

/// The first elements of an array, `most` of them; `None` if it is none. A text of many tiny elements would take a
/// multiple of its size otherwise.
pub(super) fn elements(text: &str, most: usize) -> Option<Vec<&RawValue>> {
    struct First(usize);
    impl<'de> Visitor<'de> for First {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
            let mut first = Vec::new();
            while first.len() < self.0 {
                match array.next_element()? {
                    Some(element) => first.push(element),
                    None => return Ok(first),
                }
            }
            while array.next_element::<IgnoredAny>()?.is_some() {}
            Ok(first)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let first = reader.deserialize_seq(First(most)).ok()?;
    reader.end().ok()?;
    Some(first)
}

/// A request with the given parameters.
pub(super) fn request(id: u64, method: &str, params: &Fields) -> String {
    #[derive(Serialize)]
    struct Request<'a> {
        jsonrpc: &'a str,
        id: u64,
        method: &'a str,
        params: &'a Fields,
    }
    raw(&Request {
        jsonrpc: "2.0",
        id,
        method,
        params,
    })
    .get()
    .to_owned()
}

pub(super) fn notification(method: &str, params: Option<Value>) -> String {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if let (Some(params), Some(map)) = (params, message.as_object_mut()) {
        map.insert("params".to_owned(), params);
    }
    message.to_string()
}

pub(super) fn cancelled(id: u64, reason: &str) -> String {
    notification(
        "notifications/cancelled",
        Some(json!({ "requestId": id, "reason": reason })),
    )
}

/// Our answer to a server's request: `result`, or that we do not offer that.
pub(super) fn reply(id: &RawValue, method: &str, result: Option<Value>) -> String {
    #[derive(Serialize)]
    struct Reply<'a> {
        jsonrpc: &'a str,
        id: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Value>,
    }
    let error = result
        .is_none()
        .then(|| json!({ "code": -32601, "message": format!("this client does not offer `{method}`") }));
    raw(&Reply {
        jsonrpc: "2.0",
        id,
        result,
        error,
    })
    .get()
    .to_owned()
}

/// What this client says of itself.
pub(super) fn client_info() -> Value {
    json!({ "name": "codecell", "version": env!("CARGO_PKG_VERSION") })
}

/// Adds what every request of the era carries under `_meta`; the caller's own entries stay. `modern` is what a
/// server of that era may ask.
pub(super) fn with_meta(mut params: Fields, modern: Option<Elicitation>, progress: Option<u64>) -> Fields {
    if modern.is_none() && progress.is_none() {
        return params;
    }
    let mut meta = params.get("_meta").and_then(Fields::parse).unwrap_or_default();
    if let Some(elicitation) = modern {
        meta.set("io.modelcontextprotocol/protocolVersion", raw(MODERN));
        meta.set("io.modelcontextprotocol/clientInfo", raw(&client_info()));
        meta.set(
            "io.modelcontextprotocol/clientCapabilities",
            raw(&question::capabilities(elicitation)),
        );
    }
    if let Some(token) = progress {
        meta.set("progressToken", raw(&token));
    }
    params.set("_meta", meta.to_raw());
    params
}

/// Takes the fields out of a modern result that only the protocol needs; everything else stays byte for byte.
pub(super) fn strip(result: Box<RawValue>) -> Box<RawValue> {
    let Some(mut fields) = Fields::parse(&result) else {
        return result;
    };
    let before = fields.0.len();
    fields
        .0
        .retain(|(key, _)| !matches!(key.as_str(), "resultType" | "ttlMs" | "cacheScope"));
    let mut changed = fields.0.len() != before;
    if let Some(mut meta) = fields.get("_meta").and_then(Fields::parse) {
        let before = meta.0.len();
        meta.0.retain(|(key, _)| !key.starts_with(PROTOCOL_META));
        if meta.0.len() != before {
            changed = true;
            if meta.0.is_empty() {
                fields.0.retain(|(key, _)| key != "_meta");
            } else {
                fields.set("_meta", meta.to_raw());
            }
        }
    }
    if changed { fields.to_raw() } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw_text(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn big_numbers_survive_stripping_byte_for_byte() {
        let result = r#"{"resultType":"complete","structuredContent":{"n":123456789012345678901234567890, "f":1.10},"_meta":{"io.modelcontextprotocol/serverInfo":{},"mine":1}}"#;
        assert_eq!(
            strip(raw_text(result)).get(),
            r#"{"structuredContent":{"n":123456789012345678901234567890, "f":1.10},"_meta":{"mine":1}}"#
        );
    }

    #[test]
    fn a_result_without_protocol_fields_is_untouched() {
        let text = r#"{ "content" : [] , "ttl":1}"#;
        assert_eq!(strip(raw_text(text)).get(), text);
    }

    #[test]
    fn answers_requests_and_notifications_are_told_apart() {
        let check = |text: &str, expected: &str| {
            let seen = match parse(text) {
                None => "nothing".to_owned(),
                Some(Incoming::Answer {
                    id,
                    outcome: Ok(result),
                }) => format!("ok {id:?} {result}"),
                Some(Incoming::Answer {
                    id,
                    outcome: Err(error),
                }) => {
                    format!("error {id:?} {} {}", error.code, error.message)
                }
                Some(Incoming::Request { id, method, .. }) => format!("request {id} {method}"),
                Some(Incoming::Notification { method, .. }) => format!("notification {method}"),
            };
            assert_eq!(seen, expected, "{text}");
        };
        check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "ok Some(1) null");
        check(r#"{"result":{},"id":"7"}"#, "ok Some(7) {}");
        check(
            r#"{"id":1,"error":{"code":-32601.0,"message":"no"}}"#,
            "error Some(1) -32601 no",
        );
        check(r#"{"id":null,"error":"odd"}"#, "error None 0 \"odd\"");
        check(r#"{"id":"a","method":"ping"}"#, "request \"a\" ping");
        check(r#"{"method":"notifications/x"}"#, "notification notifications/x");
        check(r#"{"id":1}"#, "nothing");
        check("INFO starting", "nothing");
        check("[1]", "nothing");
        check(r#"[7,null,null,{"a":1},null]"#, "nothing");
        check(r#" {"id":1,"result":2}"#, "ok Some(1) 2");
    }

    #[test]
    fn of_a_long_array_the_first_elements_are_taken_and_the_rest_is_read_all_the_same() {
        for (text, expected) in [
            ("[]", Some(vec![])),
            (r#"[1, {"a":[2]} ]"#, Some(vec!["1", r#"{"a":[2]}"#])),
            ("[1,2,3,[4]]", Some(vec!["1", "2"])),
            ("[1,2,3,[4]", None),
            ("[1,2]]", None),
            ("{}", None),
        ] {
            let found = elements(text, 2);
            let found: Option<Vec<&str>> = found.map(|found| found.into_iter().map(RawValue::get).collect());
            assert_eq!(found, expected, "{text}");
        }
        let batch = format!("[{}0]", r#"{"method":"a"},"#.repeat(5_000));
        assert_eq!(parse_all(&batch).len(), MAX_BATCH);
    }

    #[test]
    fn meta_is_merged_into_what_the_caller_gave() {
        let params = Fields::parse(&raw_text(r#"{"name":"x","_meta":{"mine":1}}"#)).unwrap();
        assert_eq!(
            with_meta(params.clone(), None, Some(3)).to_raw().get(),
            r#"{"name":"x","_meta":{"mine":1,"progressToken":3}}"#
        );
        assert_eq!(
            with_meta(params, None, None).to_raw().get(),
            r#"{"name":"x","_meta":{"mine":1}}"#
        );
    }

    #[test]
    fn hostile_nesting_is_no_message_and_no_crash() {
        let deep = format!(
            r#"{{"id":1,"result":{}{}}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert!(
            matches!(parse(&deep), Some(Incoming::Answer { .. })),
            "passed through unparsed"
        );
        assert!(parse(&"[".repeat(200_000)).is_none());
    }
}
