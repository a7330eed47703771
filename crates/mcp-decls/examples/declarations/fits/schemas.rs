//! Schemas of every construct that a type can express, nested in each other by chance.

#![expect(clippy::indexing_slicing, reason = "a JSON object has a place for every key")]

use serde_json::{Map, Value, json};

use super::rng::Rng;

/// Property names, some of which only a quoted key can hold.
const NAMES: [&str; 8] = [
    "id",
    "name",
    "with-dash",
    "class",
    "$ref",
    "2nd",
    "größe",
    "items",
];
/// Names of the definitions that references point to.
const DEFINITIONS: [&str; 3] = ["node", "tree-leaf", "kind"];

/// Arguments of one tool: an object whose only property `v` has a schema made by chance.
pub(crate) fn arguments(rng: &mut Rng) -> Value {
    let node = node(rng);
    let leaf = object(rng, 2);
    let kind = scalar(rng);
    json!({
        "type": "object",
        "properties": { "v": schema(rng, 4) },
        "required": ["v"],
        "additionalProperties": false,
        "$defs": { "node": node, "tree-leaf": leaf, "kind": kind },
    })
}

/// An object that contains itself, in a property, a list or a dictionary.
fn node(rng: &mut Rng) -> Value {
    let again = json!({ "$ref": "#/$defs/node" });
    let held = match rng.below(3) {
        0 => again,
        1 => json!({ "type": "array", "items": again }),
        _ => json!({ "type": "object", "additionalProperties": again }),
    };
    json!({
        "type": "object",
        "properties": { "value": scalar(rng), "next": held },
        "required": ["value"],
        "additionalProperties": false,
    })
}

fn schema(rng: &mut Rng, depth: usize) -> Value {
    if depth == 0 || rng.once_in(4) {
        return scalar(rng);
    }
    let mut schema = match rng.below(10) {
        0..=2 => object(rng, depth - 1),
        3 => dictionary(rng, depth - 1),
        4 => array(rng, depth - 1),
        5 => tuple(rng, depth - 1),
        6 => either(rng, depth - 1),
        7 => both(rng, depth - 1),
        8 => constant(rng),
        _ => json!({ "$ref": format!("#/$defs/{}", rng.pick(&DEFINITIONS).unwrap_or(&"node")) }),
    };
    if rng.once_in(3) {
        schema["description"] = "What it is for. And more of it.".into();
    }
    schema
}

fn scalar(rng: &mut Rng) -> Value {
    match rng.below(12) {
        0 => json!({ "type": "string" }),
        1 => json!({ "type": "string", "pattern": "^[a-z]+$", "minLength": 2 }),
        2 => json!({ "type": "string", "format": "date-time", "default": "now" }),
        3 => json!({ "type": "integer", "minimum": 0, "maximum": 100 }),
        4 => json!({ "type": "number" }),
        5 => json!({ "type": "boolean" }),
        6 => json!({ "type": ["string", "null"] }),
        7 => json!({ "type": ["integer", "boolean"] }),
        8 => json!({ "type": "number", "nullable": true }),
        9 => json!({ "type": "string", "enum": ["red", "green", "*/ blue"] }),
        10 => json!({ "enum": ["one", 2, true, null] }),
        _ => json!({ "const": "only" }),
    }
}

fn constant(rng: &mut Rng) -> Value {
    match rng.below(3) {
        0 => json!({ "const": { "kind": "fixed", "of": [1, "two"] } }),
        1 => json!({ "enum": [[1, 2], { "a": null }, "else"] }),
        _ => json!({ "oneOf": [{ "const": 1, "title": "One" }, { "const": 2 }, { "const": "three" }] }),
    }
}

fn properties(rng: &mut Rng, depth: usize) -> (Map<String, Value>, Vec<&'static str>) {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for name in NAMES {
        if rng.once_in(3) {
            properties.insert(name.to_owned(), schema(rng, depth));
            if rng.once_in(2) {
                required.push(name);
            }
        }
    }
    (properties, required)
}

fn object(rng: &mut Rng, depth: usize) -> Value {
    let (properties, required) = properties(rng, depth);
    let mut object = json!({ "type": "object", "properties": properties, "required": required });
    match rng.below(5) {
        0 => object["additionalProperties"] = true.into(),
        1 | 2 => object["additionalProperties"] = false.into(),
        // Required by name only.
        3 if rng.once_in(3) => {
            object["required"] = json!(["elsewhere"]);
        }
        _ => {}
    }
    object
}

fn dictionary(rng: &mut Rng, depth: usize) -> Value {
    let of = schema(rng, depth);
    match rng.below(4) {
        0 | 1 => json!({ "type": "object", "additionalProperties": of }),
        2 => json!({ "type": "object", "patternProperties": { "^x-": of }, "additionalProperties": false }),
        _ => json!({
            "type": "object",
            "propertyNames": { "enum": ["left", "right"] },
            "additionalProperties": of,
        }),
    }
}

fn array(rng: &mut Rng, depth: usize) -> Value {
    let mut array = json!({ "type": "array", "items": schema(rng, depth) });
    if rng.once_in(3) {
        array["minItems"] = rng.below(3).into();
    }
    if rng.once_in(4) {
        array["maxItems"] = 4.into();
    }
    array
}

fn tuple(rng: &mut Rng, depth: usize) -> Value {
    let items: Vec<Value> = (0..=rng.below(3)).map(|_| schema(rng, depth)).collect();
    let least = rng.below(items.len() + 1);
    let mut tuple = json!({ "type": "array", "prefixItems": items, "minItems": least });
    match rng.below(3) {
        0 => tuple["items"] = false.into(),
        1 => tuple["items"] = schema(rng, depth),
        _ => {}
    }
    tuple
}

fn either(rng: &mut Rng, depth: usize) -> Value {
    let keyword = if rng.once_in(2) { "anyOf" } else { "oneOf" };
    let mut members: Vec<Value> = (0..2 + rng.below(2)).map(|_| schema(rng, depth)).collect();
    if rng.once_in(3) {
        members.push(json!({ "type": "null" }));
    }
    json!({ keyword: members })
}

/// Two objects at once. Neither is closed: what one of them closes, the other cannot add to.
fn both(rng: &mut Rng, depth: usize) -> Value {
    let half = |rng: &mut Rng, names: [&str; 2]| {
        let properties: Map<String, Value> = names
            .iter()
            .map(|name| ((*name).to_owned(), schema(rng, depth)))
            .collect();
        let required: Vec<&str> = names.into_iter().filter(|_| rng.once_in(2)).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    };
    let (one, other) = (half(rng, ["a", "b"]), half(rng, ["c", "d"]));
    if rng.once_in(3) {
        json!({ "allOf": [one, { "$ref": "#/$defs/tree-leaf" }] })
    } else {
        json!({ "allOf": [one, other] })
    }
}
