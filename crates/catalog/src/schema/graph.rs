//! Which parts of a schema need a name: the ones that contain themselves, and the large ones used twice.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::refs::{Place, References, address};

/// Most nodes followed; far beyond any real schema, and the reader has its own budget.
const MAX_NODES: usize = 50_000;
/// From this weight on a part that is used twice gets a name instead of being repeated.
const HEAVY: usize = 3;

/// Keywords whose value is one schema that the reader reads.
const ONE: &[&str] = &[
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedProperties",
    "if",
    "then",
    "else",
];
/// Keywords whose value is a list of schemas.
const MANY: &[&str] = &["prefixItems", "anyOf", "oneOf", "allOf", "items"];
/// Keywords whose value maps names to schemas.
const NAMED: &[&str] = &["properties", "patternProperties"];
/// Keywords that refer to a schema elsewhere.
pub(super) const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// Addresses of the nodes that become definitions.
pub(super) fn named_nodes(references: &References<'_>) -> HashSet<usize> {
    let Some(root) = references.root() else {
        return HashSet::new();
    };
    let mut uses: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut on_path: HashSet<usize> = HashSet::new();
    let mut named = HashSet::new();
    let mut left = MAX_NODES;
    // An explicit stack: a schema may be nested deeper than the native one allows.
    let mut stack = vec![Step::Enter(root)];
    while let Some(step) = stack.pop() {
        match step {
            Step::Leave(node) => {
                on_path.remove(&node);
            }
            Step::Enter(place) => {
                let node = address(place.node);
                if on_path.contains(&node) {
                    named.insert(node);
                    continue;
                }
                if let Some((count, _)) = uses.get_mut(&node) {
                    *count += 1;
                    continue;
                }
                if left == 0 {
                    continue;
                }
                left -= 1;
                let next = edges(references, place);
                uses.insert(node, (1, weight(place.node)));
                on_path.insert(node);
                stack.push(Step::Leave(node));
                stack.extend(next.into_iter().rev().map(Step::Enter));
            }
        }
    }
    named.extend(
        uses.iter()
            .filter(|(_, (count, weight))| *count > 1 && *weight >= HEAVY)
            .map(|(node, _)| *node),
    );
    named
}

enum Step<'a> {
    Enter(Place<'a>),
    Leave(usize),
}

fn edges<'a>(references: &References<'a>, place: Place<'a>) -> Vec<Place<'a>> {
    let Value::Object(keywords) = place.node else {
        return Vec::new();
    };
    let mut found: Vec<Place<'a>> = subschemas(place.node)
        .map(|node| references.place(node, place.resource))
        .collect();
    for keyword in REFERENCES {
        if let Some(reference) = keywords.get(*keyword).and_then(Value::as_str)
            && let Ok(target) = references.resolve(reference, place.resource)
        {
            found.push(target);
        }
    }
    found.retain(|place| place.node.is_object());
    found
}

fn subschemas(node: &Value) -> impl Iterator<Item = &Value> {
    node.as_object().into_iter().flat_map(|keywords| {
        child_schemas(keywords).chain(child_maps(keywords).flat_map(|children| children.values()))
    })
}

/// The schemas that keywords hold by themselves or in a list.
pub(super) fn child_schemas(keywords: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let at = move |keyword: &&str| keywords.get(*keyword);
    let one = ONE.iter().filter_map(at).filter(|value| !value.is_array());
    one.chain(MANY.iter().filter_map(at).filter_map(Value::as_array).flatten())
}

/// The schemas that keywords hold by name.
pub(super) fn child_maps(keywords: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let at = move |keyword: &&str| keywords.get(*keyword);
    NAMED.iter().filter_map(at).filter_map(Value::as_object)
}

/// How much text a node makes, roughly and only as far as [`HEAVY`] needs.
fn weight(node: &Value) -> usize {
    let own = 1 + node
        .get("enum")
        .and_then(Value::as_array)
        .map_or(0, |values| values.len() / 2);
    let inner: usize = subschemas(node)
        .take(HEAVY)
        .map(|inner| 1 + usize::from(subschemas(inner).next().is_some()))
        .sum();
    own + inner
}
