//! Values that fit a schema, and the same with one thing changed.

use serde_json::{Map, Value, json};

use super::rng::Rng;

/// References followed, and schemas entered, before a value is given up.
const MAX_DEPTH: usize = 24;
/// Below this depth nothing optional is filled in.
const FULL_DEPTH: usize = 8;

/// A value of `schema`, as far as its keywords are known here; nothing where that is not far enough.
pub(crate) fn sample(schema: &Value, root: &Value, rng: &mut Rng, depth: usize) -> Option<Value> {
    let keywords = match schema {
        Value::Bool(true) => return Some(json!("anything")),
        Value::Object(keywords) => keywords,
        _ => return None,
    };
    if depth > MAX_DEPTH {
        return None;
    }
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.strip_prefix('#')?)?;
        return sample(target, root, rng, depth + 1);
    }
    if let Some(value) = keywords.get("const") {
        return Some(value.clone());
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return rng.pick(values).cloned();
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(members) = keywords.get(keyword).and_then(Value::as_array) {
            let member = sample(rng.pick(members)?, root, rng, depth + 1)?;
            return with_own(keywords, member, root, rng, depth);
        }
    }
    if let Some(members) = keywords.get("allOf").and_then(Value::as_array) {
        let mut whole = json!({});
        for member in members {
            whole = merged(whole, sample(member, root, rng, depth + 1)?)?;
        }
        return with_own(keywords, whole, root, rng, depth);
    }
    let kinds: Vec<&str> = match keywords.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if keywords.contains_key("properties") => vec!["object"],
        _ if keywords.contains_key("items") => vec!["array"],
        _ => vec!["string"],
    };
    match *rng.pick(&kinds)? {
        "null" => Some(Value::Null),
        "boolean" => Some(rng.once_in(2).into()),
        "integer" => Some(number(keywords, rng)),
        "number" if keywords.contains_key("minimum") => Some(number(keywords, rng)),
        "number" => Some(json!(rng.below(100) as f64 / 4.0)),
        "string" => Some("abcdefgh".repeat(1 + rng.below(2)).into()),
        "array" => array(keywords, root, rng, depth),
        "object" => object(keywords, root, rng, depth),
        _ => None,
    }
}

fn with_own(
    keywords: &Map<String, Value>,
    member: Value,
    root: &Value,
    rng: &mut Rng,
    depth: usize,
) -> Option<Value> {
    if member.is_object() && keywords.contains_key("properties") {
        return merged(object(keywords, root, rng, depth)?, member);
    }
    Some(member)
}

fn merged(one: Value, other: Value) -> Option<Value> {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            one.extend(other);
            Some(Value::Object(one))
        }
        _ => None,
    }
}

fn number(keywords: &Map<String, Value>, rng: &mut Rng) -> Value {
    let bound = |name: &str| keywords.get(name).and_then(Value::as_i64);
    let least = bound("minimum").unwrap_or(0).max(-1_000_000);
    let most = bound("maximum").unwrap_or(least + 50).min(least + 50);
    let span = usize::try_from(most - least + 1).unwrap_or(1);
    (least + i64::try_from(rng.below(span)).unwrap_or(0)).into()
}

fn array(keywords: &Map<String, Value>, root: &Value, rng: &mut Rng, depth: usize) -> Option<Value> {
    let count = |name: &str| {
        keywords
            .get(name)
            .and_then(Value::as_u64)
            .and_then(|count| usize::try_from(count).ok())
    };
    let (leading, further) = match (keywords.get("prefixItems"), keywords.get("items")) {
        (Some(Value::Array(leading)), further) => (leading.as_slice(), further),
        (None, Some(Value::Array(leading))) => (leading.as_slice(), keywords.get("additionalItems")),
        (_, further) => (&[][..], further),
    };
    let anything = Value::Bool(true);
    let least = count("minItems").unwrap_or(0);
    let room = if depth > FULL_DEPTH { 0 } else { rng.below(3) };
    let mut wanted = least.max(leading.len().min(least + room)) + room.saturating_sub(1);
    if let Some(most) = count("maxItems") {
        wanted = wanted.min(most);
    }
    let mut items = Vec::new();
    while items.len() < wanted {
        let schema = match leading.get(items.len()) {
            Some(schema) => schema,
            None if further == Some(&Value::Bool(false)) => break,
            None => further.unwrap_or(&anything),
        };
        items.push(sample(schema, root, rng, depth + 1)?);
    }
    Some(items.into())
}

fn object(keywords: &Map<String, Value>, root: &Value, rng: &mut Rng, depth: usize) -> Option<Value> {
    let empty = Map::new();
    let declared = keywords
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let required: Vec<&str> = keywords
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut object = Map::new();
    for (name, schema) in declared {
        let needed = required.contains(&name.as_str());
        if needed {
            object.insert(name.clone(), sample(schema, root, rng, depth + 1)?);
        } else if depth <= FULL_DEPTH
            && rng.once_in(2)
            && let Some(value) = sample(schema, root, rng, depth + 1)
        {
            object.insert(name.clone(), value);
        }
    }
    for name in required {
        if !declared.contains_key(name) {
            object.insert(name.to_owned(), json!(["anything"]));
        }
    }
    let more = if depth > FULL_DEPTH { 0 } else { rng.below(3) };
    match keywords.get("additionalProperties") {
        Some(Value::Bool(true)) if more > 0 => {
            object.insert("more".to_owned(), json!({ "of": [1, null] }));
        }
        Some(schema @ Value::Object(_)) => {
            for name in ["left", "right"].into_iter().take(more) {
                object.insert(name.to_owned(), sample(schema, root, rng, depth + 1)?);
            }
        }
        _ => {}
    }
    if let Some(of) = keywords
        .get("patternProperties")
        .and_then(|patterns| patterns.get("^x-"))
        && more > 0
    {
        object.insert("x-of".to_owned(), sample(of, root, rng, depth + 1)?);
    }
    Some(object.into())
}

/// What a change did.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Another value in the place of one.
    Replaced,
    /// A property or the last element is gone.
    Removed,
    /// A property or an element nobody declared.
    Added,
}

/// `value` with one change somewhere inside; it stays an object.
pub(crate) fn changed(value: &Value, rng: &mut Rng) -> Option<(Value, Change)> {
    let mut places = Vec::new();
    collect(value, String::new(), &mut places);
    let place = rng.pick(&places)?.clone();
    let mut value = value.clone();
    let target = value.pointer_mut(&place)?;
    let change = match (target, rng.below(3)) {
        (Value::Object(map), 0) => {
            let names: Vec<String> = map.keys().cloned().collect();
            map.remove(rng.pick(&names)?);
            Change::Removed
        }
        (Value::Object(map), 1) => {
            map.insert("undeclared".to_owned(), 1.into());
            Change::Added
        }
        (Value::Array(items), 0) => {
            items.pop()?;
            Change::Removed
        }
        (Value::Array(items), 1) => {
            items.push(other(rng)?);
            Change::Added
        }
        (target, _) if !place.is_empty() => {
            *target = other(rng)?;
            if target.get("undeclared").is_some() {
                Change::Added
            } else {
                Change::Replaced
            }
        }
        _ => return None,
    };
    Some((value, change))
}

fn other(rng: &mut Rng) -> Option<Value> {
    let others = [
        json!(null),
        json!(true),
        json!(17),
        json!("no member"),
        json!([]),
        json!({}),
        json!([1.5]),
        json!({ "undeclared": 1 }),
    ];
    rng.pick(&others).cloned()
}

fn collect(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                collect(
                    value,
                    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
                    places,
                );
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, format!("{at}/{index}"), places);
            }
        }
        _ => {}
    }
    places.push(at);
}
