//! Where a `$ref` points: pointers, anchors and identifiers inside one document, never outside it.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Most nodes that are searched for `$id` and `$anchor`; a real schema has a few thousand.
const MAX_SCANNED: usize = 100_000;
/// Keywords that hold data, not schemas.
const DATA: &[&str] = &["const", "enum", "default", "examples"];

/// A node and the resource (the nearest `$id`, or the document) it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) node: &'a Value,
    pub(super) resource: usize,
}

/// Why a reference leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unresolved {
    /// It names another document, which is not fetched.
    Elsewhere,
    /// This document has no such part.
    Missing,
}

struct Resource<'a> {
    root: &'a Value,
    uri: String,
}

/// The resources and anchors of one document.
pub(super) struct References<'a> {
    resources: Vec<Resource<'a>>,
    by_uri: HashMap<String, usize>,
    by_node: HashMap<usize, usize>,
    anchors: HashMap<(usize, String), Place<'a>>,
}

/// Identity of a node within the document it was read from.
pub(super) fn address(node: &Value) -> usize {
    std::ptr::from_ref(node).addr()
}

impl<'a> References<'a> {
    pub(super) fn scan(root: &'a Value) -> Self {
        let mut found = Self {
            resources: vec![Resource {
                root,
                uri: String::new(),
            }],
            by_uri: HashMap::new(),
            by_node: HashMap::from([(address(root), 0)]),
            anchors: HashMap::new(),
        };
        let mut stack = vec![Place {
            node: root,
            resource: 0,
        }];
        let mut left = MAX_SCANNED;
        while let Some(Place { node, mut resource }) = stack.pop() {
            if left == 0 {
                break;
            }
            left -= 1;
            match node {
                Value::Array(items) => {
                    stack.extend(items.iter().rev().map(|node| Place { node, resource }));
                }
                Value::Object(keywords) => {
                    resource = found.note(node, keywords, resource);
                    let children = keywords.iter().filter(|(key, _)| !DATA.contains(&key.as_str()));
                    stack.extend(children.rev().map(|(_, node)| Place { node, resource }));
                }
                _ => {}
            }
        }
        found
    }

    fn note(&mut self, node: &'a Value, keywords: &'a Map<String, Value>, mut resource: usize) -> usize {
        match keywords.get("$id").and_then(Value::as_str) {
            Some(id) if id.starts_with('#') => {
                self.anchor(&id[1..], Place { node, resource });
            }
            Some(id) => {
                let base = self.resources.get(resource).map_or("", |resource| &resource.uri);
                let uri = join(base, id.trim_end_matches('#'));
                if address(node) == self.resources.first().map_or(0, |first| address(first.root)) {
                    if let Some(first) = self.resources.first_mut() {
                        first.uri.clone_from(&uri);
                    }
                } else {
                    resource = self.resources.len();
                    self.resources.push(Resource {
                        root: node,
                        uri: uri.clone(),
                    });
                    self.by_node.insert(address(node), resource);
                }
                self.by_uri.entry(uri).or_insert(resource);
            }
            None => {}
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = keywords.get(keyword).and_then(Value::as_str) {
                self.anchor(name, Place { node, resource });
            }
        }
        resource
    }

    fn anchor(&mut self, name: &str, place: Place<'a>) {
        self.anchors
            .entry((place.resource, name.to_owned()))
            .or_insert(place);
    }

    /// The document itself.
    pub(super) fn root(&self) -> Option<Place<'a>> {
        self.resources.first().map(|first| Place {
            node: first.root,
            resource: 0,
        })
    }

    /// `node` as a place: in `resource` unless it opens one itself.
    pub(super) fn place(&self, node: &'a Value, resource: usize) -> Place<'a> {
        Place {
            node,
            resource: self.by_node.get(&address(node)).copied().unwrap_or(resource),
        }
    }

    pub(super) fn resolve(&self, reference: &str, from: usize) -> Result<Place<'a>, Unresolved> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if uri.is_empty() {
            from
        } else {
            let base = self.resources.get(from).map_or("", |resource| &resource.uri);
            *self.by_uri.get(&join(base, uri)).ok_or(Unresolved::Elsewhere)?
        };
        let root = self.resources.get(resource).ok_or(Unresolved::Missing)?.root;
        if fragment.is_empty() {
            return Ok(Place { node: root, resource });
        }
        let fragment = percent_decoded(fragment);
        let Some(pointer) = fragment.strip_prefix('/') else {
            return self
                .anchors
                .get(&(resource, fragment))
                .copied()
                .ok_or(Unresolved::Missing);
        };
        let mut place = Place { node: root, resource };
        for part in pointer.split('/') {
            let part = part.replace("~1", "/").replace("~0", "~");
            let node = match place.node {
                Value::Object(map) => map.get(&part),
                Value::Array(items) => part.parse().ok().and_then(|at: usize| items.get(at)),
                _ => None,
            };
            place = self.place(node.ok_or(Unresolved::Missing)?, place.resource);
        }
        Ok(place)
    }
}

/// `relative` against `base`, as far as identifiers in schemas go.
fn join(base: &str, relative: &str) -> String {
    let has_scheme = relative.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|ch: char| ch.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|ch| ch.is_ascii_alphanumeric() || "+.-".contains(ch))
    });
    if has_scheme || base.is_empty() {
        return relative.to_owned();
    }
    let authority = base.find("://").map_or(0, |at| at + 3);
    let path = base
        .get(authority..)
        .and_then(|rest| rest.find('/'))
        .map_or(base.len(), |at| authority + at);
    let kept = if relative.starts_with('/') {
        path
    } else {
        base.rfind('/')
            .filter(|at| *at >= path)
            .map_or(base.len(), |at| at + 1)
    };
    format!("{}{relative}", base.get(..kept).unwrap_or(base))
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        if byte == b'%'
            && let (Some(high), Some(low)) = (digit(ahead.next()), digit(ahead.next()))
            && let Ok(decoded) = u8::try_from(high * 16 + low)
        {
            bytes.push(decoded);
            rest = ahead;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_stay_inside_the_document() {
        let document = json!({
            "$id": "http://example.invalid/schemas/root.json",
            "$defs": {
                "a": { "$anchor": "named", "title": "anchor" },
                "b": { "$id": "item", "title": "id", "$defs": { "in": { "title": "inner" } } },
                "c/d": { "~": { "title": "escaped" } },
                "e f": { "title": "space" },
                "old": { "$id": "#legacy", "title": "legacy" },
            },
            "title": "root",
            "const": { "$anchor": "data" },
        });
        let references = References::scan(&document);
        for (reference, expected) in [
            ("#", Ok("root")),
            ("root.json", Ok("root")),
            ("#named", Ok("anchor")),
            ("#legacy", Ok("legacy")),
            ("item", Ok("id")),
            ("/schemas/item", Ok("id")),
            ("http://example.invalid/schemas/item#/$defs/in", Ok("inner")),
            ("#/$defs/c~1d/~0", Ok("escaped")),
            ("#/$defs/e%20f", Ok("space")),
            ("#/$defs/none", Err(Unresolved::Missing)),
            ("#data", Err(Unresolved::Missing)),
            ("other.json", Err(Unresolved::Elsewhere)),
            ("http://127.0.0.1:9/x", Err(Unresolved::Elsewhere)),
        ] {
            let found = references
                .resolve(reference, 0)
                .map(|place| place.node["title"].as_str().unwrap());
            assert_eq!(found, expected, "{reference}");
        }
    }
}
