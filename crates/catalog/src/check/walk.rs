use serde_json::{Map, Value};

/// Keywords whose value is one schema.
pub(super) const ONE: [&str; 11] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas.
pub(super) const LISTS: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];

/// Keywords whose value maps names to schemas.
pub(super) const MAPS: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Calls `visit` on every schema object inside `schema`, itself first.
///
/// The caller has made sure that `schema` is not too deep for recursion.
pub(super) fn each_schema(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(object) = schema else { return };
    visit(object);
    for keyword in ONE {
        if let Some(child) = object.get_mut(keyword) {
            each_schema(child, visit);
        }
    }
    for keyword in LISTS {
        if let Some(Value::Array(children)) = object.get_mut(keyword) {
            children.iter_mut().for_each(|child| each_schema(child, visit));
        }
    }
    for keyword in MAPS {
        if let Some(Value::Object(children)) = object.get_mut(keyword) {
            children.values_mut().for_each(|child| each_schema(child, visit));
        }
    }
}

/// Whether `value` nests at most `depth` levels and has at most `nodes` values. Does not recurse itself.
pub(super) fn fits(value: &Value, depth: usize, nodes: usize) -> bool {
    let mut left = nodes;
    let mut open = vec![(value, 0)];
    while let Some((value, level)) = open.pop() {
        if level > depth || left == 0 {
            return false;
        }
        left -= 1;
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, level + 1))),
            _ => {}
        }
    }
    true
}
