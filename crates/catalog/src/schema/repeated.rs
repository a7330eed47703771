//! Which parts several schemas have in common, so that one reader is told of them once.

use std::{
    collections::{HashMap, HashSet, hash_map::DefaultHasher},
    hash::{Hash as _, Hasher as _},
};

use serde_json::{Map, Value};

use super::{
    graph::{child_maps, child_schemas},
    refs::address,
};

/// From this weight on a part may get a name: a property weighs one, so does a pair of literals.
const HEAVY: usize = 2;
/// What naming has to spare: a part of this weight, or half of it twice.
const WORTH: usize = 4;
/// Deeper parts are left where they are.
const MAX_DEPTH: usize = 64;

/// Keywords that belong to the place where a part stands, not to its type.
const OF_THE_PLACE: &[&str] = &["description", "title", "default", "deprecated", "examples"];

/// Parts that stand in several places of several schemas, the same but for what is said of the place.
#[derive(Debug, Default)]
pub struct Repeated {
    keys: HashSet<u64>,
}

impl Repeated {
    /// What `schemas`, which one reader gets to see in this order, repeat often enough to be named instead.
    #[must_use]
    pub fn among<'a>(schemas: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut uses = HashMap::new();
        for schema in schemas {
            let mut parts = HashMap::new();
            measure(schema, 0, &mut parts);
            count(schema, true, &parts, &mut uses);
        }
        let keys = uses
            .into_iter()
            .filter(|(_, (count, weight))| *weight >= HEAVY && (count - 1) * weight >= WORTH)
            .map(|(key, _)| key)
            .collect();
        Self { keys }
    }

    /// Addresses of the parts of `schema` that get a name.
    pub(super) fn nodes_of(&self, schema: &Value) -> HashSet<usize> {
        if self.keys.is_empty() {
            return HashSet::new();
        }
        let mut parts = HashMap::new();
        measure(schema, 0, &mut parts);
        // The whole is what the reader came for.
        parts.remove(&address(schema));
        parts
            .into_iter()
            .filter(|(_, part)| self.keys.contains(&part.key))
            .map(|(node, _)| node)
            .collect()
    }
}

struct Part {
    /// Equal for parts that make the same text.
    key: u64,
    /// How much there is to be said once instead of twice.
    weight: usize,
}

/// Measures every part below `schema`, and answers its own hash, descriptions included, and weight.
fn measure(schema: &Value, depth: usize, parts: &mut HashMap<usize, Part>) -> (u64, usize) {
    let Value::Object(keywords) = schema else {
        return (hash_of(schema), 0);
    };
    if depth > MAX_DEPTH {
        // Like no other part.
        return (address(schema) as u64, 0);
    }
    let mut inner = HashMap::new();
    let mut weight = keywords
        .get("enum")
        .and_then(Value::as_array)
        .map_or(0, |values| values.len() / 2);
    for children in child_maps(keywords) {
        for child in children.values() {
            let (hash, heavy) = measure(child, depth + 1, parts);
            inner.insert(address(child), hash);
            weight += 1 + heavy;
        }
    }
    for child in child_schemas(keywords) {
        let (hash, heavy) = measure(child, depth + 1, parts);
        inner.insert(address(child), hash);
        weight += heavy;
    }
    let key = combined(keywords, &inner, OF_THE_PLACE);
    // What a list holds gets the name: then it serves without a list too.
    let own = if keywords.contains_key("items") { 0 } else { weight };
    parts.insert(address(schema), Part { key, weight: own });
    (combined(keywords, &inner, &[]), weight)
}

/// The hash of a schema whose parts, in `inner`, have theirs already.
fn combined(keywords: &Map<String, Value>, inner: &HashMap<usize, u64>, without: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (keyword, value) in keywords {
        if without.contains(&keyword.as_str()) {
            continue;
        }
        keyword.hash(&mut hasher);
        let of = |value: &Value| {
            inner
                .get(&address(value))
                .copied()
                .unwrap_or_else(|| hash_of(value))
        };
        match value {
            Value::Object(map) if !inner.contains_key(&address(value)) => {
                for (name, value) in map {
                    (name, of(value)).hash(&mut hasher);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| of(item).hash(&mut hasher)),
            value => of(value).hash(&mut hasher),
        }
    }
    hasher.finish()
}

fn hash_of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Counts the places of each part, without those inside a part that was met before.
fn count(
    schema: &Value,
    is_root: bool,
    parts: &HashMap<usize, Part>,
    uses: &mut HashMap<u64, (usize, usize)>,
) {
    let (Value::Object(keywords), Some(part)) = (schema, parts.get(&address(schema))) else {
        return;
    };
    if !is_root && part.weight >= HEAVY {
        let (count, _) = uses.entry(part.key).or_insert((0, part.weight));
        *count += 1;
        if *count > 1 {
            return;
        }
    }
    for children in child_maps(keywords) {
        children
            .values()
            .for_each(|child| count(child, false, parts, uses));
    }
    child_schemas(keywords).for_each(|child| count(child, false, parts, uses));
}
