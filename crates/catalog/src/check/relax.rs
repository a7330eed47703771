//! Makes real-world schemas usable, only ever by asking for less.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::walk::{LISTS, MAPS, ONE, each_schema};

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// What is meant but not said in JSON Schema: OpenAPI's `nullable`, older tuples under the default dialect, a
/// dialect nobody knows.
pub(super) fn read_as_meant(schema: &mut Value) {
    let known = schema
        .get("$schema")
        .map(|dialect| dialect.as_str().is_some_and(is_known_dialect));
    if known == Some(false)
        && let Value::Object(root) = schema
    {
        root.shift_remove("$schema");
    }
    let default_dialect = known != Some(true);
    each_schema(schema, &mut |object| {
        if object.get("nullable") == Some(&Value::Bool(true)) {
            admit_null(object);
        }
        if let Some(Value::String(reference)) = object.get_mut("$ref")
            && let Some(fragment) = reference.strip_prefix('#')
        {
            *reference = format!("#{}", percent_encoded(fragment));
        }
        if default_dialect
            && object.get("items").is_some_and(Value::is_array)
            && !object.contains_key("prefixItems")
        {
            if let Some(tuple) = object.shift_remove("items") {
                object.insert("prefixItems".into(), tuple);
            }
            if let Some(rest) = object.shift_remove("additionalItems") {
                object.insert("items".into(), rest);
            }
        }
    });
}

/// Spells a name such as `Page<Item>`, common in generated schemas, as a URI fragment may have it.
fn percent_encoded(fragment: &str) -> String {
    let mut encoded = String::with_capacity(fragment.len());
    for byte in fragment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn is_known_dialect(dialect: &str) -> bool {
    let dialect = dialect.trim_end_matches('#');
    let name = dialect
        .strip_prefix("http://json-schema.org/")
        .or_else(|| dialect.strip_prefix("https://json-schema.org/"));
    matches!(
        name,
        Some(
            "draft-04/schema"
                | "draft-06/schema"
                | "draft-07/schema"
                | "draft/2019-09/schema"
                | "draft/2020-12/schema"
        )
    )
}

fn admit_null(object: &mut Map<String, Value>) {
    if let Some(kind) = object.get_mut("type") {
        match kind {
            Value::String(name) => *kind = json!([name, "null"]),
            Value::Array(names) if !names.contains(&json!("null")) => names.push(json!("null")),
            _ => {}
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// Drops patterns that `compiles` refuses, such as those with look-around.
pub(super) fn drop_patterns(schema: &mut Value, compiles: impl Fn(&str) -> bool) {
    each_schema(schema, &mut |object| {
        if object
            .get("pattern")
            .is_some_and(|pattern| !pattern.as_str().is_some_and(&compiles))
        {
            object.shift_remove("pattern");
        }
        if let Some(Value::Object(patterns)) = object.get_mut("patternProperties") {
            let before = patterns.len();
            patterns.retain(|pattern, _| compiles(pattern));
            if patterns.len() < before {
                // The names it stood for would now count as additional.
                object.shift_remove("additionalProperties");
                object.shift_remove("unevaluatedProperties");
            }
        }
    });
}

/// Drops what no dialect allows, so that the rest still counts. `resolves` says which references lead somewhere.
pub(super) fn drop_nonsense(schema: &mut Value, resolves: impl Fn(&str) -> bool) {
    each_schema(schema, &mut |object| {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if object
                .get(keyword)
                .is_some_and(|target| !target.as_str().is_some_and(&resolves))
            {
                object.shift_remove(keyword);
            }
        }
        repair_type(object);
        for keyword in LISTS {
            let is_nonsense = |value: &Value| match value {
                Value::Array(children) => children.is_empty() || !children.iter().all(is_schema),
                other => keyword != "items" || !is_schema(other),
            };
            if object.get(keyword).is_some_and(is_nonsense) {
                object.shift_remove(keyword);
            }
        }
        for keyword in ONE {
            if object
                .get(keyword)
                .is_some_and(|child| !(is_schema(child) || keyword == "items" && child.is_array()))
            {
                object.shift_remove(keyword);
            }
        }
        for keyword in MAPS {
            match object.get_mut(keyword) {
                Some(Value::Object(children)) => {
                    children.retain(|_, child| {
                        is_schema(child) || (keyword == "dependencies" && child.is_array())
                    });
                }
                Some(_) => {
                    object.shift_remove(keyword);
                }
                None => {}
            }
        }
        drop_wrong_values(object);
    });
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

fn repair_type(object: &mut Map<String, Value>) {
    let Some(kind) = object.get("type") else { return };
    let named: Vec<&str> = match kind {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().map(|name| name.as_str().unwrap_or("")).collect(),
        _ => vec![""],
    };
    let mut known: Vec<&str> = TYPES.into_iter().filter(|name| named.contains(name)).collect();
    let all_known = named.iter().all(|name| TYPES.contains(name));
    if all_known && known.len() == named.len() && !named.is_empty() {
        return;
    }
    // With one name that means nothing here, the others cannot be all that is allowed.
    if !all_known {
        known.clear();
    }
    let repaired = json!(known);
    if known.is_empty() {
        object.shift_remove("type");
    } else {
        object.insert("type".into(), repaired);
    }
}

fn drop_wrong_values(object: &mut Map<String, Value>) {
    let wrong = |keyword: &str, value: &Value| match keyword {
        "maximum" | "minimum" | "exclusiveMaximum" | "exclusiveMinimum" => !value.is_number(),
        "multipleOf" => !value.as_f64().is_some_and(|number| number > 0.0),
        "maxItems" | "minItems" | "maxLength" | "minLength" | "maxProperties" | "minProperties"
        | "maxContains" | "minContains" => value.as_u64().is_none(),
        "required" => !value
            .as_array()
            .is_some_and(|names| names.iter().all(Value::is_string)),
        "enum" | "examples" => !value.is_array(),
        "uniqueItems" => !value.is_boolean(),
        "dependentRequired" => !value.is_object(),
        "$id" | "id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary" => {
            !value.is_string()
        }
        "title" | "description" | "$comment" | "format" | "contentEncoding" | "contentMediaType" => {
            !value.is_string()
        }
        "deprecated" | "readOnly" | "writeOnly" => !value.is_boolean(),
        "contentSchema" => !is_schema(value),
        _ => false,
    };
    object.retain(|keyword, value| !wrong(keyword, value));
    if let Some(Value::Array(names)) = object.get_mut("required") {
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
    }
}
