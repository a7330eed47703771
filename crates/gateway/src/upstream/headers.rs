//! Headers that mirror parts of a request, as the stateless era asks over HTTP.
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, value::RawValue};

use super::message::Fields;

const ANNOTATION: &str = "x-mcp-header";

/// One argument that travels as a header too.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mirror {
    header: String,
    path: Vec<String>,
}

impl Mirror {
    /// The header's name, in lower case.
    pub(crate) fn header(&self) -> String {
        format!("mcp-param-{}", self.header.to_ascii_lowercase())
    }
}

/// The largest whole number that every JSON reader keeps exact.
const SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Finds the annotations of an input schema; one that breaks the rules makes the tool invalid.
///
/// The schema is no deeper than the JSON parser allows, which bounds the recursion.
pub(crate) fn mirrors(schema: &Value) -> Result<Vec<Mirror>, String> {
    let mut found: Vec<Mirror> = Vec::new();
    let mut path = Vec::new();
    walk(schema, &mut path, Reach::Root, &mut found)?;
    Ok(found)
}

/// Whether a place in a schema can be read off the arguments without evaluating the schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Root,
    Property,
    Beyond,
}

fn walk(schema: &Value, path: &mut Vec<String>, reach: Reach, found: &mut Vec<Mirror>) -> Result<(), String> {
    match schema {
        Value::Object(map) => {
            if let Some(annotation) = map.get(ANNOTATION) {
                let header = check(annotation, map.get("type"), path, reach, found)?;
                found.push(Mirror {
                    header,
                    path: path.clone(),
                });
            }
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) if reach != Reach::Beyond => {
                        for (name, property) in properties {
                            path.push(name.clone());
                            walk(property, path, Reach::Property, found)?;
                            path.pop();
                        }
                    }
                    // Data, not schemas.
                    ("enum" | "const" | "default" | "examples" | ANNOTATION, _) => {}
                    (_, value) => walk(value, path, Reach::Beyond, found)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| walk(item, path, Reach::Beyond, found)),
        _ => Ok(()),
    }
}

fn check(
    annotation: &Value,
    kind: Option<&Value>,
    path: &[String],
    reach: Reach,
    found: &[Mirror],
) -> Result<String, String> {
    let at = if path.is_empty() {
        "the root".to_owned()
    } else {
        format!("`{}`", path.join("."))
    };
    let Some(header) = annotation.as_str() else {
        return Err(format!("{ANNOTATION} of {at} is not a string"));
    };
    if header.is_empty() || !header.chars().all(is_token_char) {
        return Err(format!(
            "{ANNOTATION} `{}` of {at} is no header name",
            header.escape_debug()
        ));
    }
    if reach != Reach::Property {
        return Err(format!(
            "{ANNOTATION} `{header}` at {at} is not on a plain property"
        ));
    }
    if !matches!(
        kind.and_then(Value::as_str),
        Some("string" | "integer" | "boolean")
    ) {
        return Err(format!(
            "{ANNOTATION} `{header}` of {at} is not on a string, integer or boolean"
        ));
    }
    if found
        .iter()
        .any(|mirror| mirror.header.eq_ignore_ascii_case(header))
    {
        return Err(format!("{ANNOTATION} `{header}` of {at} is used twice"));
    }
    Ok(header.to_owned())
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// The headers of one request.
pub(crate) fn of_request(method: &str, params: &Fields, mirrors: &[Mirror]) -> Vec<(String, String)> {
    let mut headers = vec![("mcp-method".to_owned(), method.to_owned())];
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return headers,
    };
    if let Some(name) = params.text(key) {
        headers.push(("mcp-name".to_owned(), encode(&name)));
    }
    for mirror in mirrors {
        if let Some(text) = params
            .get("arguments")
            .and_then(|arguments| at_path(arguments, &mirror.path))
        {
            headers.push((mirror.header(), encode(&text)));
        }
    }
    headers
}

fn at_path(arguments: &RawValue, path: &[String]) -> Option<String> {
    let mut value: Box<RawValue> = arguments.to_owned();
    for name in path {
        value = Fields::parse(&value)?.get(name)?.to_owned();
    }
    match serde_json::from_str(value.get()).ok()? {
        Value::String(text) => Some(text),
        Value::Bool(on) => Some(on.to_string()),
        Value::Number(number) => {
            let whole = number
                .as_i64()
                .filter(|number| number.unsigned_abs() <= SAFE_INTEGER);
            Some(whole.map_or_else(|| number.to_string(), |number| number.to_string()))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What a header says; `None` if it says it in a way that cannot be read.
pub(crate) fn decode(text: &str) -> Option<String> {
    let between = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match between {
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

/// Text that a header cannot carry as it is goes as Base64 between markers.
fn encode(text: &str) -> String {
    let printable = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    if printable && !padded && !looks_encoded {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check_headers(schema: &Value, params: &Value, expected: &[(&str, &str)]) {
        let params = Fields::parse(&RawValue::from_string(params.to_string()).unwrap()).unwrap();
        let headers = of_request("tools/call", &params, &mirrors(schema).unwrap());
        let seen: Vec<(&str, &str)> = headers.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn annotated_arguments_are_mirrored() {
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
            "on": { "type": "boolean", "x-mcp-header": "On" },
            "none": { "type": "string", "x-mcp-header": "None" },
            "free": { "type": "string" },
        }});
        check_headers(
            &schema,
            &json!({ "name": "sql", "arguments": { "region": "Hello, 世界", "deep": { "n": -7 }, "on": true, "none": null } }),
            &[
                ("mcp-method", "tools/call"),
                ("mcp-name", "sql"),
                ("mcp-param-region", "=?base64?SGVsbG8sIOS4lueVjA==?="),
                ("mcp-param-n", "-7"),
                ("mcp-param-on", "true"),
            ],
        );
    }

    #[test]
    fn text_that_a_header_cannot_carry_is_encoded() {
        for (text, expected) in [
            ("us-west1", "us-west1"),
            ("", ""),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode(text), expected);
            assert_eq!(decode(expected).as_deref(), Some(text));
        }
    }

    #[test]
    fn annotations_that_break_the_rules_are_named() {
        let property = |schema: Value| json!({ "properties": { "p": schema } });
        for (schema, expected) in [
            (
                property(json!({ "type": "string", "x-mcp-header": "" })),
                "x-mcp-header `` of `p` is no header name",
            ),
            (
                property(json!({ "type": "string", "x-mcp-header": 5 })),
                "x-mcp-header of `p` is not a string",
            ),
            (
                property(json!({ "type": "string", "x-mcp-header": "a\r\nb" })),
                "x-mcp-header `a\\r\\nb` of `p` is no header name",
            ),
            (
                property(json!({ "type": "number", "x-mcp-header": "A" })),
                "x-mcp-header `A` of `p` is not on a string, integer or boolean",
            ),
            (
                property(json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "A" } })),
                "x-mcp-header `A` at `p` is not on a plain property",
            ),
            (
                json!({ "properties": { "a": { "type": "string", "x-mcp-header": "X" }, "b": { "type": "string", "x-mcp-header": "x" } } }),
                "x-mcp-header `x` of `b` is used twice",
            ),
            (
                json!({ "anyOf": [{ "properties": { "a": { "type": "string", "x-mcp-header": "X" } } }] }),
                "x-mcp-header `X` at the root is not on a plain property",
            ),
        ] {
            assert_eq!(mirrors(&schema), Err(expected.to_owned()), "{schema}");
        }
    }

    #[test]
    fn data_that_looks_like_an_annotation_is_data() {
        let schema = json!({ "properties": { "p": { "type": "object", "default": { "x-mcp-header": 1 } } } });
        assert_eq!(mirrors(&schema), Ok(vec![]));
    }
}
