//! Small values that fit a schema, for servers that only pretend to work.

use serde_json::{Map, Value, json};

/// Deepest level that is filled in: recursive schemas end here.
const MAX_DEPTH: usize = 12;

/// Most entries of a list that a schema can ask for.
const MAX_ITEMS: u64 = 8;

/// A value that fits `schema`, as far as a few lines can tell.
pub(super) fn value(schema: &Value) -> Value {
    fill(schema, schema, 0)
}

fn fill(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(object) = schema.as_object() else {
        return json!({});
    };
    if depth > MAX_DEPTH {
        return json!({});
    }
    if let Some(target) = object.get("$ref").and_then(Value::as_str) {
        let found = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return found.map_or(Value::Null, |found| fill(found, root, depth + 1));
    }
    if let Some(fixed) = ["const", "default"]
        .iter()
        .filter_map(|key| object.get(*key))
        .find(|value| !value.is_null())
    {
        return fixed.clone();
    }
    if let Some(first) = object.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    if !object.contains_key("properties") {
        let choice = ["anyOf", "oneOf"]
            .iter()
            .find_map(|key| object.get(*key).and_then(|choices| choices.get(0)));
        if let Some(choice) = choice {
            return fill(choice, root, depth + 1);
        }
    }
    match kind(object) {
        "array" => array(object, root, depth),
        "string" => string(object),
        "number" | "integer" => {
            object
                .get("minimum")
                .cloned()
                .unwrap_or_else(|| match object.get("exclusiveMinimum") {
                    Some(limit) => json!(limit.as_i64().unwrap_or(0) + 1),
                    None => json!(1),
                })
        }
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => properties(object, root, depth),
    }
}

fn kind(object: &Map<String, Value>) -> &str {
    match object.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
            .unwrap_or("null"),
        _ => "object",
    }
}

fn array(object: &Map<String, Value>, root: &Value, depth: usize) -> Value {
    match object.get("items") {
        Some(Value::Array(items)) => items.iter().map(|item| fill(item, root, depth + 1)).collect(),
        Some(item) => {
            let count = object
                .get("minItems")
                .and_then(Value::as_u64)
                .unwrap_or(1)
                .min(MAX_ITEMS);
            (0..count).map(|_| fill(item, root, depth + 1)).collect()
        }
        None => json!([]),
    }
}

fn string(object: &Map<String, Value>) -> Value {
    match object.get("format").and_then(Value::as_str) {
        Some("date-time") => json!("2026-01-02T03:04:05Z"),
        Some("date") => json!("2026-01-02"),
        Some("uri") => json!("http://127.0.0.1/"),
        _ => {
            let length = object
                .get("minLength")
                .and_then(Value::as_u64)
                .unwrap_or(1)
                .clamp(1, 64);
            json!("x".repeat(usize::try_from(length).unwrap_or(1)))
        }
    }
}

fn properties(object: &Map<String, Value>, root: &Value, depth: usize) -> Value {
    let empty = Map::new();
    let properties = object
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let required = object.get("required").and_then(Value::as_array);
    let names: Vec<&str> = match required {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => properties.keys().take(3).map(String::as_str).collect(),
    };
    let value = |name: &str| {
        properties
            .get(name)
            .map_or(json!({}), |schema| fill(schema, root, depth + 1))
    };
    Value::Object(
        names
            .into_iter()
            .map(|name| (name.to_owned(), value(name)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_their_schemas() {
        for (schema, expected) in [
            (
                json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] }),
                json!({ "a": "x" }),
            ),
            (
                json!({ "type": ["null", "integer"], "exclusiveMinimum": 4 }),
                json!(5),
            ),
            (json!({ "anyOf": [{ "const": "b" }] }), json!("b")),
            (
                json!({ "type": "array", "minItems": 2, "items": { "enum": [7] } }),
                json!([7, 7]),
            ),
            (
                json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "boolean" } } }),
                json!(true),
            ),
            (json!({ "$ref": "https://example.org/x" }), Value::Null),
        ] {
            assert_eq!(value(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn schemas_without_an_end_get_one() {
        let endless = json!({ "type": "object", "properties": { "a": { "$ref": "#" } }, "required": ["a"] });
        assert!(value(&endless).is_object());
    }
}
