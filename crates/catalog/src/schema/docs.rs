//! Comment text of a property: its description, and the facts a type cannot say.

use serde_json::{Map, Value};

use super::{
    read::Extent,
    text::{comment, quote},
};

/// Longest `pattern` that is shown; longer ones explain nothing.
const MAX_PATTERN_CHARS: usize = 60;
/// Longest `default` that is shown.
const MAX_DEFAULT_CHARS: usize = 40;

/// Description and facts; each empty when there is nothing to say.
pub(super) fn docs(
    name: &str,
    keywords: &Map<String, Value>,
    target: Option<&Map<String, Value>>,
    extent: Extent,
    max_chars: usize,
) -> (String, String) {
    if max_chars == 0 {
        return Default::default();
    }
    let said = |map: &Map<String, Value>| {
        map.get("description")
            .and_then(Value::as_str)
            .map(|text| extent.of(text, max_chars))
            .filter(|text| adds_to(name, text))
    };
    let described = said(keywords)
        .or_else(|| target.and_then(said))
        .unwrap_or_default();
    let mut facts = Vec::new();
    if keywords.get("deprecated") == Some(&Value::Bool(true)) {
        facts.push("deprecated".to_owned());
    }
    let main = only_real_alternative(keywords).unwrap_or(keywords);
    bounds(main, !described.is_empty(), &mut facts);
    if let Some(default) = keywords.get("default").filter(|value| !value.is_null()) {
        let text = spelled(default);
        // Many descriptions already say "(default: 30)".
        let already =
            described.to_lowercase().contains("default") && described.contains(text.trim_matches('"'));
        if !already && text.chars().count() <= MAX_DEFAULT_CHARS {
            facts.push(format!("default {text}"));
        }
    }
    let facts = comment(&facts.join(", "), max_chars.max(MAX_PATTERN_CHARS * 2));
    (described, facts)
}

/// Whether `text` says anything that `name` does not: "The user id" adds nothing to `userId`.
fn adds_to(name: &str, text: &str) -> bool {
    const FILLERS: &[&str] = &[
        "a", "an", "the", "of", "to", "for", "in", "is", "this", "that", "optional",
    ];
    let name: String = name
        .chars()
        .filter(|ch| ch.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    text.split(|ch: char| !ch.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .any(|word| !FILLERS.contains(&word.as_str()) && !name.contains(&word))
}

/// Of "X or null", X.
fn only_real_alternative(keywords: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let members = keywords
        .get("anyOf")
        .or_else(|| keywords.get("oneOf"))?
        .as_array()?;
    let mut real = members
        .iter()
        .filter_map(Value::as_object)
        .filter(|member| member.get("type").and_then(Value::as_str) != Some("null"));
    let first = real.next()?;
    real.next().is_none().then_some(first)
}

fn bounds(keywords: &Map<String, Value>, described: bool, facts: &mut Vec<String>) {
    let text = |name: &str| keywords.get(name).and_then(Value::as_str);
    if !described && keywords.get("type").and_then(Value::as_str) == Some("integer") {
        facts.push("integer".to_owned());
    }
    if let Some(format) = text("format") {
        facts.push(format.to_owned());
    }
    if let Some(pattern) = text("pattern").filter(|pattern| pattern.chars().count() <= MAX_PATTERN_CHARS) {
        facts.push(format!("/{pattern}/"));
    }
    for (label, low, high) in [
        ("", "minimum", "maximum"),
        ("length ", "minLength", "maxLength"),
        ("items ", "minItems", "maxItems"),
        ("properties ", "minProperties", "maxProperties"),
    ] {
        let bound = |name: &str| {
            keywords
                .get(name)
                .filter(|value| value.is_number())
                .filter(|value| !is_filler(value))
        };
        match (bound(low), bound(high)) {
            (Some(low), Some(high)) if low == high => facts.push(format!("{label}{low}")),
            (Some(low), Some(high)) => facts.push(format!("{label}{low}..{high}")),
            (Some(low), None) => facts.push(format!("{label}>= {low}")),
            (None, Some(high)) => facts.push(format!("{label}<= {high}")),
            (None, None) => {}
        }
    }
    for (sign, name) in [
        ("> ", "exclusiveMinimum"),
        ("< ", "exclusiveMaximum"),
        ("multiple of ", "multipleOf"),
    ] {
        if let Some(value) = keywords
            .get(name)
            .filter(|value| value.is_number() && !is_filler(value))
        {
            facts.push(format!("{sign}{value}"));
        }
    }
    if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
        facts.push("unique".to_owned());
    }
}

/// The ends of machine integers, which schema generators add to every integer, say nothing.
fn is_filler(value: &Value) -> bool {
    let ends = [i32::MIN.into(), i32::MAX.into(), u32::MAX.into()];
    value
        .as_f64()
        .is_some_and(|value| value.abs() >= 9_007_199_254_740_991.0 || ends.contains(&value))
}

fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        // Long defaults are dropped anyway; do not print them first.
        Value::Array(items) if items.len() > MAX_DEFAULT_CHARS => "…".repeat(MAX_DEFAULT_CHARS + 1),
        Value::Object(map) if map.len() > MAX_DEFAULT_CHARS => "…".repeat(MAX_DEFAULT_CHARS + 1),
        other => other.to_string(),
    }
}
