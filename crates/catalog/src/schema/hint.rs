//! One-line hints of a tool's input and output, short enough for a prompt index.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::text::{property_key, quote};

/// How much of a schema a hint shows.
struct Limits {
    /// Longest object text, and longest hint as a whole.
    chars: usize,
    /// Most properties of one object.
    properties: usize,
    /// Most objects inside each other.
    depth: usize,
}

/// Inputs only have to remind a model of the parameters; `describe` has the rest.
const INPUT: Limits = Limits {
    chars: 300,
    properties: 16,
    depth: 4,
};
/// Outputs are shown only when complete, so they may be longer.
const OUTPUT: Limits = Limits {
    chars: 800,
    properties: 20,
    depth: 6,
};
/// Longer property names are left out: they would fill the hint alone.
const MAX_NAME_CHARS: usize = 128;
/// Unions with more members say less than `unknown` costs.
const MAX_UNION: usize = 4;
/// Most literals of one `enum`, …
const MAX_LITERALS: usize = 8;
/// … and the most characters they take together.
const MAX_LITERAL_CHARS: usize = 96;
/// Most schemas inside each other, objects or not: bounds the recursion on hostile input.
const MAX_NESTING: usize = 24;

/// Keywords that change what a schema accepts in ways a hint does not show.
const BEYOND_A_HINT: &[&str] = &[
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "patternProperties",
    "unevaluatedProperties",
    "dependentSchemas",
    "dependencies",
    "if",
    "then",
    "else",
    "not",
    "prefixItems",
    "unevaluatedItems",
];

/// What a tool takes, in at most 300 characters; `unknown` when the schema says nothing a hint can show.
///
/// Best effort: a trailing `; ...` marks what was left out.
///
/// ```
/// use codecell_catalog::schema::input_hint;
/// let schema = serde_json::json!({
///     "type": "object",
///     "properties": { "limit": { "type": "integer" }, "path": { "type": "string" } },
///     "required": ["path"],
/// });
/// assert_eq!(input_hint(&schema), "{ path: string; limit?: number }");
/// ```
#[must_use]
pub fn input_hint(schema: &Value) -> String {
    let hint = Hinter {
        limits: &INPUT,
        closed_only: false,
    }
    .schema(schema, 0, 0);
    if hint.text.chars().count() > INPUT.chars {
        "unknown".to_owned()
    } else {
        hint.text
    }
}

/// What a tool answers, or `None` unless the hint is the whole truth: every object closed, nothing left out,
/// at most 800 characters.
///
/// ```
/// use codecell_catalog::schema::output_hint;
/// let mut schema = serde_json::json!({ "type": "object", "properties": { "ok": { "type": "boolean" } } });
/// assert_eq!(output_hint(&schema), None, "other properties may follow");
/// schema["additionalProperties"] = false.into();
/// assert_eq!(output_hint(&schema).as_deref(), Some("{ ok?: boolean }"));
/// ```
#[must_use]
pub fn output_hint(schema: &Value) -> Option<String> {
    let hint = Hinter {
        limits: &OUTPUT,
        closed_only: true,
    }
    .schema(schema, 0, 0);
    (hint.complete && hint.text.chars().count() <= OUTPUT.chars).then_some(hint.text)
}

/// A piece of hint, and whether it says everything its schema says.
struct Hint {
    text: String,
    complete: bool,
}

impl Hint {
    fn complete(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            complete: true,
        }
    }

    fn unknown() -> Self {
        Self {
            text: "unknown".to_owned(),
            complete: false,
        }
    }
}

struct Hinter<'a> {
    limits: &'a Limits,
    /// Whether an object that allows further properties counts as incomplete.
    closed_only: bool,
}

impl Hinter<'_> {
    fn schema(&self, schema: &Value, depth: usize, nesting: usize) -> Hint {
        let Some(keywords) = schema.as_object() else {
            return Hint::unknown();
        };
        if nesting >= MAX_NESTING {
            return Hint::unknown();
        }
        let mut hint = self.shape(keywords, depth, nesting);
        hint.complete &= !BEYOND_A_HINT
            .iter()
            .any(|keyword| keywords.contains_key(*keyword));
        if keywords.get("nullable") == Some(&Value::Bool(true))
            && hint.text != "unknown"
            && !hint.text.split(" | ").any(|part| part == "null")
        {
            hint.text.push_str(" | null");
        }
        hint
    }

    fn shape(&self, keywords: &Map<String, Value>, depth: usize, nesting: usize) -> Hint {
        let alternatives = ["anyOf", "oneOf"].map(|name| keywords.get(name).and_then(Value::as_array));
        match alternatives {
            [Some(_), Some(_)] => return Hint::unknown(),
            [Some(members), None] | [None, Some(members)] => {
                let shaped = [
                    "type",
                    "properties",
                    "required",
                    "items",
                    "enum",
                    "const",
                    "additionalProperties",
                ];
                if shaped.iter().any(|keyword| keywords.contains_key(*keyword)) {
                    return Hint::unknown();
                }
                return self.union(members, depth, nesting);
            }
            [None, None] => {}
        }
        if let Some(value) = keywords.get("const") {
            return literals(std::slice::from_ref(value));
        }
        if let Some(values) = keywords.get("enum") {
            return values
                .as_array()
                .map_or_else(Hint::unknown, |values| literals(values));
        }
        match keywords.get("type") {
            Some(Value::String(name)) => self.typed(name, keywords, depth, nesting),
            Some(Value::Array(names)) => self.join(
                names.iter().map(|name| match name.as_str() {
                    Some(name) => self.typed(name, keywords, depth, nesting),
                    None => Hint::unknown(),
                }),
                names.len(),
            ),
            Some(_) => Hint::unknown(),
            None if keywords.contains_key("properties") => self.object(keywords, depth, nesting),
            None if keywords.contains_key("items") => self.array(keywords, depth, nesting),
            None => Hint::complete("unknown"),
        }
    }

    fn typed(&self, name: &str, keywords: &Map<String, Value>, depth: usize, nesting: usize) -> Hint {
        match name {
            "string" | "boolean" | "null" | "number" => Hint::complete(name),
            "integer" => Hint::complete("number"),
            "array" => self.array(keywords, depth, nesting),
            "object" => self.object(keywords, depth, nesting),
            _ => Hint::unknown(),
        }
    }

    fn array(&self, keywords: &Map<String, Value>, depth: usize, nesting: usize) -> Hint {
        let item = match keywords.get("items") {
            None | Some(Value::Bool(true)) => Hint::complete("unknown"),
            Some(items) => self.schema(items, depth, nesting + 1),
        };
        Hint {
            text: format!("Array<{}>", item.text),
            complete: item.complete,
        }
    }

    fn union(&self, members: &[Value], depth: usize, nesting: usize) -> Hint {
        self.join(
            members
                .iter()
                .map(|member| self.schema(member, depth, nesting + 1)),
            members.len(),
        )
    }

    /// Joins complete members without repeats; one incomplete or too many make the whole `unknown`.
    fn join(&self, members: impl Iterator<Item = Hint>, count: usize) -> Hint {
        // Repeats fall together, so a few more schemas than members may be read, but not endlessly many.
        if count == 0 || count > MAX_UNION * 2 {
            return Hint::unknown();
        }
        let mut texts: Vec<String> = Vec::new();
        for member in members {
            if !member.complete {
                return Hint::unknown();
            }
            if member.text == "unknown" {
                return member;
            }
            if !texts.contains(&member.text) {
                texts.push(member.text);
            }
        }
        if texts.len() > MAX_UNION {
            Hint::unknown()
        } else {
            Hint::complete(texts.join(" | "))
        }
    }

    fn object(&self, keywords: &Map<String, Value>, depth: usize, nesting: usize) -> Hint {
        if depth >= self.limits.depth {
            return Hint::unknown();
        }
        let empty = Map::new();
        let properties = keywords
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let required: Vec<&str> = keywords
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let additional = keywords.get("additionalProperties");
        let closed = additional == Some(&Value::Bool(false));
        let open = additional.is_some() && !closed;
        if properties.is_empty() && required.is_empty() {
            return if closed {
                Hint::complete("{}")
            } else {
                Hint {
                    text: "{ ... }".to_owned(),
                    complete: !self.closed_only,
                }
            };
        }

        let wanted: std::collections::HashSet<&str> = required.iter().copied().collect();
        let mut names: Vec<(bool, &str, &Value)> = properties
            .iter()
            .filter(|(name, _)| name.chars().nth(MAX_NAME_CHARS).is_none())
            .map(|(name, schema)| (!wanted.contains(name.as_str()), name.as_str(), schema))
            .collect();
        names.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| by_locale(a.1, b.1)));
        let omitted = open
            || names.len() < properties.len()
            || names.len() > self.limits.properties
            || required.iter().any(|name| !properties.contains_key(*name))
            || BEYOND_A_HINT
                .iter()
                .any(|keyword| keywords.contains_key(*keyword));
        let mut complete = !omitted && (closed || !self.closed_only);

        let mut fields = Vec::new();
        for (optional, name, schema) in names.into_iter().take(self.limits.properties) {
            let value = self.schema(schema, depth + 1, nesting + 1);
            complete &= value.complete;
            fields.push(format!(
                "{}{}: {}",
                property_key(name),
                if optional { "?" } else { "" },
                value.text
            ));
        }
        let (text, all_fit) = self.fit(fields, omitted);
        Hint {
            text,
            complete: complete && all_fit,
        }
    }

    /// Drops fields from the end until the object fits.
    fn fit(&self, mut fields: Vec<String>, omitted: bool) -> (String, bool) {
        let mut all_fit = true;
        loop {
            if fields.is_empty() {
                return ("{ ... }".to_owned(), false);
            }
            let mark = if omitted || !all_fit { "; ..." } else { "" };
            let text = format!("{{ {}{mark} }}", fields.join("; "));
            if text.chars().count() <= self.limits.chars {
                return (text, all_fit);
            }
            fields.pop();
            all_fit = false;
        }
    }
}

/// Literals joined as a union, unless there are too many of them or they are not scalars.
fn literals(values: &[Value]) -> Hint {
    let mut texts: Vec<String> = Vec::new();
    let mut chars = 0;
    for value in values {
        let text = match value {
            Value::String(text) => quote(text),
            Value::Array(_) | Value::Object(_) => return Hint::unknown(),
            scalar => scalar.to_string(),
        };
        if texts.contains(&text) {
            continue;
        }
        chars += text.chars().count() + if texts.is_empty() { 0 } else { " | ".len() };
        texts.push(text);
        if texts.len() > MAX_LITERALS || chars > MAX_LITERAL_CHARS {
            return Hint::unknown();
        }
    }
    if texts.is_empty() {
        Hint::unknown()
    } else {
        Hint::complete(texts.join(" | "))
    }
}

/// The order a reader expects: punctuation, digits, letters regardless of case, lower case first on ties.
fn by_locale(a: &str, b: &str) -> Ordering {
    fn key(ch: char) -> (u8, char) {
        let class = if ch.is_alphabetic() {
            2
        } else {
            u8::from(ch.is_numeric())
        };
        (class, ch.to_lowercase().next().unwrap_or(ch))
    }
    a.chars().map(key).cmp(b.chars().map(key)).then_with(|| b.cmp(a))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn input_hints_show_the_parameters() {
        let nested = |levels: usize| {
            (0..levels).fold(
                json!({ "type": "string" }),
                |inner, _| json!({ "type": "object", "properties": { "a": inner } }),
            )
        };
        let many: Map<String, Value> = (10..30)
            .map(|at| (format!("p{at}"), json!({ "type": "null" })))
            .collect();
        let long: Map<String, Value> = (10..26)
            .map(|at| (format!("{}{at}", "long_".repeat(6)), json!({ "type": "string" })))
            .collect();
        for (schema, expected) in [
            (json!({}), "unknown"),
            (json!("x"), "unknown"),
            (json!({ "type": "string" }), "string"),
            (json!({ "type": "object" }), "{ ... }"),
            (json!({ "type": "object", "additionalProperties": false }), "{}"),
            (
                json!({ "properties": { "b": { "type": "integer" }, "a": { "type": "string" }, "Z-z": {} }, "required": ["b"] }),
                "{ b: number; a?: string; \"Z-z\"?: unknown }",
            ),
            (
                json!({ "properties": { "a": {} }, "additionalProperties": true }),
                "{ a?: unknown; ... }",
            ),
            (
                json!({ "properties": { "a": {} }, "required": ["ghost"] }),
                "{ a?: unknown; ... }",
            ),
            (
                json!({ "type": "array", "items": { "type": ["string", "null"] } }),
                "Array<string | null>",
            ),
            (
                json!({ "enum": ["x", "y", 3, null, true, "x"] }),
                "\"x\" | \"y\" | 3 | null | true",
            ),
            (json!({ "enum": [1, 2, 3, 4, 5, 6, 7, 8, 9] }), "unknown"),
            (json!({ "enum": [{}] }), "unknown"),
            (json!({ "const": "a\u{2028}b" }), "\"a\\u2028b\""),
            (json!({ "type": "string", "nullable": true }), "string | null"),
            (
                json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "number" }] }),
                "string | number",
            ),
            (
                json!({ "anyOf": [{ "type": "string" }], "oneOf": [{ "type": "string" }] }),
                "unknown",
            ),
            (
                json!({ "type": "object", "anyOf": [{ "type": "string" }] }),
                "unknown",
            ),
            (
                json!({ "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/x" }] }),
                "unknown",
            ),
            (
                json!({ "properties": { "a": { "$ref": "#" } } }),
                "{ a?: unknown }",
            ),
            (nested(4), "{ a?: { a?: { a?: { a?: string } } } }"),
            (nested(5), "{ a?: { a?: { a?: { a?: unknown } } } }"),
        ] {
            assert_eq!(input_hint(&schema), expected, "{schema}");
        }
        let hint = input_hint(&json!({ "properties": many }));
        assert!(
            hint.starts_with("{ p10?: null; ") && hint.ends_with("p25?: null; ... }"),
            "{hint}"
        );
        let hint = input_hint(&json!({ "properties": long }));
        assert!(hint.ends_with("string; ... }") && hint.len() <= 300, "{hint}");
    }

    #[test]
    fn output_hints_are_complete_or_absent() {
        let closed = |properties: Value| json!({ "type": "object", "properties": properties, "additionalProperties": false });
        let inner = closed(json!({ "x": { "type": "array", "items": {} } }));
        for (schema, expected) in [
            (json!({ "type": "string" }), Some("string")),
            (json!({}), Some("unknown")),
            (json!({ "type": "object" }), None),
            (closed(json!({})), Some("{}")),
            (
                closed(json!({ "inner": inner })),
                Some("{ inner?: { x?: Array<unknown> } }"),
            ),
            (
                closed(json!({ "inner": { "type": "object", "properties": { "x": {} } } })),
                None,
            ),
            (closed(json!({ "a": { "$ref": "#" } })), None),
            (
                closed(json!({ "a": { "enum": [1, 2, 3, 4, 5, 6, 7, 8, 9] } })),
                None,
            ),
            (
                json!({ "anyOf": [closed(json!({ "a": {} })), { "type": "null" }] }),
                Some("{ a?: unknown } | null"),
            ),
            (
                json!({ "type": "object", "additionalProperties": false, "allOf": [{}] }),
                None,
            ),
        ] {
            assert_eq!(output_hint(&schema).as_deref(), expected, "{schema}");
        }
    }
}
