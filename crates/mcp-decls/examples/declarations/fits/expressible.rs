//! What of a schema a type can express, as a schema.

use serde_json::{Map, Value, json};

/// Keywords that no type follows.
const BEYOND_TYPES: &[&str] = &[
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "maxItems",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
];

/// `schema` without what a type cannot say: whatever this refuses, the type has to refuse.
///
/// `opened`: with every object open. The members of a union share what the compiler takes for undeclared.
pub(crate) fn expressible(schema: &Value, opened: bool) -> Value {
    let Value::Object(keywords) = schema else {
        return schema.clone();
    };
    let mut kept = Map::new();
    for (keyword, value) in keywords {
        if BEYOND_TYPES.contains(&keyword.as_str()) {
            continue;
        }
        let value = match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(map)) => map
                .iter()
                .map(|(name, schema)| (name.clone(), expressible(schema, opened)))
                .collect::<Map<_, _>>()
                .into(),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(members)) => members
                .iter()
                .map(|member| expressible(member, opened))
                .collect::<Vec<_>>()
                .into(),
            ("additionalProperties", Value::Bool(false)) | ("propertyNames", _) if opened => continue,
            ("items" | "additionalProperties", schema) => expressible(schema, opened),
            ("type", kind) => kinds(kind),
            _ => value.clone(),
        };
        kept.insert(keyword.clone(), value);
    }
    // How many there are is only said of the positions of a tuple.
    if !keywords.contains_key("prefixItems") {
        kept.remove("minItems");
    }
    if let Some(members) = kept.remove("oneOf") {
        kept.insert("anyOf".to_owned(), members);
    }
    if kept.remove("nullable") == Some(Value::Bool(true)) {
        return json!({ "anyOf": [kept, { "type": "null" }] });
    }
    kept.into()
}

fn kinds(kind: &Value) -> Value {
    match kind {
        Value::String(name) if name == "integer" => "number".into(),
        Value::Array(kinds) => kinds.iter().map(self::kinds).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}
