//! Foresees how much work a check would be.
//!
//! A small schema can ask for 2^40 visits of a small value (two branches of `allOf` that both descend, repeated per
//! level), and a circle of references never ends. The validator has no brake, so this walks the same pairs of schema
//! and value first, with one.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Pairs of schema and value one check may visit: a few hundredths of a second, far above what real tools need.
const MAX_VISITS: usize = 250_000;

/// Nesting of schemas applied within schemas along one path of the value; bounds the validator's stack too.
const MAX_DEPTH: usize = 256;

/// Charged for a reference to a standard meta-schema, which is not followed.
const META_SCHEMA_VISITS: usize = 1_000;

/// Where the references of one schema lead.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// JSON pointers of `$id`s and anchors, by the text a reference spells.
    named: HashMap<String, String>,
}

impl Targets {
    /// Notes every `$id` and anchor. The schema is known to be shallow.
    pub(super) fn of(schema: &Value) -> Self {
        let mut targets = Self::default();
        targets.note(schema, String::new());
        targets
    }

    fn note(&mut self, value: &Value, pointer: String) {
        match value {
            Value::Object(members) => {
                for (keyword, prefix) in [("$id", ""), ("id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")]
                {
                    if let Some(name) = members.get(keyword).and_then(Value::as_str) {
                        let name = format!("{prefix}{}", name.trim_end_matches('#'));
                        self.named.entry(name).or_insert_with(|| pointer.clone());
                    }
                }
                for (key, member) in members {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    self.note(member, format!("{pointer}/{key}"));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.note(item, format!("{pointer}/{index}"));
                }
            }
            _ => {}
        }
    }

    /// The schema `reference` leads to from within `base`.
    pub(super) fn find<'s>(&self, reference: &str, base: &'s Value, root: &'s Value) -> Option<&'s Value> {
        if let Some(pointer) = reference.strip_prefix('#') {
            if pointer.is_empty() {
                return Some(base);
            }
            if pointer.starts_with('/') {
                return base.pointer(&percent_decoded(pointer)?);
            }
        }
        self.named
            .get(reference.trim_end_matches('#'))
            .and_then(|pointer| root.pointer(pointer))
    }
}

/// Whether a reference names one of the dialects themselves, which the validator brings along.
pub(super) fn is_meta_schema(reference: &str) -> bool {
    reference.starts_with("http://json-schema.org/") || reference.starts_with("https://json-schema.org/")
}

fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let byte = if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            u8::try_from(digit(bytes.next())? * 16 + digit(bytes.next())?).ok()?
        } else {
            byte
        };
        decoded.push(byte);
    }
    String::from_utf8(decoded).ok()
}

/// Whether checking `value` against `schema` ends soon.
pub(super) fn is_affordable(schema: &Value, targets: &Targets, value: &Value) -> bool {
    let mut walk = Walk {
        root: schema,
        targets,
        left: MAX_VISITS,
    };
    walk.visit(schema, schema, value, 0).is_some()
}

struct Walk<'s> {
    root: &'s Value,
    targets: &'s Targets,
    left: usize,
}

/// Out of budget, too deep, or led nowhere: there is nothing to tell apart.
type Afforded = Option<()>;

impl<'s> Walk<'s> {
    fn spend(&mut self, visits: usize) -> Afforded {
        self.left = self.left.checked_sub(visits)?;
        Some(())
    }

    fn visit(&mut self, schema: &'s Value, base: &'s Value, value: &Value, depth: usize) -> Afforded {
        self.spend(1)?;
        let Value::Object(object) = schema else {
            return Some(());
        };
        if depth > MAX_DEPTH {
            return None;
        }
        let base = if object.contains_key("$id") { schema } else { base };
        let depth = depth + 1;
        self.in_place(object, base, value, depth)?;
        match value {
            Value::Object(members) => self.members(object, base, members, depth),
            Value::Array(items) => self.items(object, base, items, depth),
            _ => Some(()),
        }
    }

    /// Schemas applied to the same value again.
    fn in_place(
        &mut self,
        object: &'s Map<String, Value>,
        base: &'s Value,
        value: &Value,
        depth: usize,
    ) -> Afforded {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = object.get(keyword).and_then(Value::as_str) else {
                continue;
            };
            match self.targets.find(reference, base, self.root) {
                Some(target) => self.visit(target, base, value, depth)?,
                None if is_meta_schema(reference) => self.spend(META_SCHEMA_VISITS)?,
                None => return None,
            }
        }
        for keyword in ["not", "if", "then", "else"] {
            if let Some(child) = object.get(keyword) {
                self.visit(child, base, value, depth)?;
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for child in object
                .get(keyword)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                self.visit(child, base, value, depth)?;
            }
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for child in object
                .get(keyword)
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(Map::values)
            {
                self.visit(child, base, value, depth)?;
            }
        }
        self.spend(object.get("enum").and_then(Value::as_array).map_or(0, Vec::len))
    }

    fn members(
        &mut self,
        object: &'s Map<String, Value>,
        base: &'s Value,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Afforded {
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if let Some(child) = object.get(keyword) {
                for member in members.values() {
                    self.visit(child, base, member, depth)?;
                }
            }
        }
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            for (name, member) in members {
                if let Some(child) = properties.get(name) {
                    self.visit(child, base, member, depth)?;
                }
            }
        }
        for child in object
            .get("patternProperties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::values)
        {
            for member in members.values() {
                self.visit(child, base, member, depth)?;
            }
        }
        if let Some(child) = object.get("propertyNames") {
            for _ in members {
                self.visit(child, base, &Value::Null, depth)?;
            }
        }
        Some(())
    }

    fn items(
        &mut self,
        object: &'s Map<String, Value>,
        base: &'s Value,
        items: &[Value],
        depth: usize,
    ) -> Afforded {
        for keyword in ["items", "additionalItems", "contains", "unevaluatedItems"] {
            match object.get(keyword) {
                Some(Value::Array(tuple)) => {
                    for (child, item) in tuple.iter().zip(items) {
                        self.visit(child, base, item, depth)?;
                    }
                }
                Some(child) => {
                    for item in items {
                        self.visit(child, base, item, depth)?;
                    }
                }
                None => {}
            }
        }
        for (child, item) in object
            .get("prefixItems")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .zip(items)
        {
            self.visit(child, base, item, depth)?;
        }
        Some(())
    }
}
