//! Objects and arrays.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    docs::docs,
    graph::REFERENCES,
    read::{Here, Reader, is_short},
    types::{MAX_PROPERTIES, Object, Property, Rest, Tuple, Type},
};

/// Most elements of a tuple that are spelled out.
const MAX_TUPLE: usize = 32;
/// Longest array of fixed length that is spelled out element by element.
const MAX_FIXED: usize = 8;
/// Most elements an array must have that are spelled out in front of the rest.
const MAX_LEADING: usize = 2;
/// Most names of `propertyNames` that become properties.
const MAX_KEY_NAMES: usize = 64;

/// Members of `Object.prototype`.
const INHERITED: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

impl<'a> Reader<'a, '_> {
    pub(super) fn object(&mut self, here: Here<'a>) -> Type {
        let empty = serde_json::Map::new();
        let declared = here.map("properties");
        let declares = |name: &str| declared.unwrap_or(&empty).get(name).is_some();
        let mut seen = HashSet::new();
        let required: Vec<&str> = here
            .list("required")
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter(|name| seen.insert(*name))
            .take(MAX_PROPERTIES)
            .collect();

        let mut rest = self.rest(here);
        let mut properties = Vec::new();
        for name in required.iter().copied() {
            let property = match declared.and_then(|declared| declared.get_key_value(name)) {
                Some((name, schema)) => self.property(name, schema, false, here),
                None => Property {
                    name: name.to_owned(),
                    docs: String::new(),
                    facts: String::new(),
                    optional: false,
                    ty: undeclared(&rest, name),
                },
            };
            properties.push(property);
        }
        let mut cut = false;
        for (name, schema) in declared.into_iter().flatten() {
            if seen.contains(name.as_str()) {
                continue;
            }
            if properties.len() >= MAX_PROPERTIES {
                cut = true;
                break;
            }
            properties.push(self.property(name, schema, true, here));
        }

        if let Some(names) = key_names(here) {
            for name in names {
                if !declares(name) && !seen.contains(name) && properties.len() < MAX_PROPERTIES {
                    let ty = undeclared(&rest, name);
                    properties.push(Property {
                        name: name.to_owned(),
                        docs: String::new(),
                        facts: String::new(),
                        optional: true,
                        ty,
                    });
                }
            }
            rest = Rest::Closed;
        }
        if cut {
            let count = declared.map_or(0, serde_json::Map::len);
            let note = format!("{MAX_PROPERTIES} of {count} properties, see the schema");
            return Type::Object(Object {
                properties,
                rest: Rest::Open,
            })
            .noted(note);
        }
        Type::Object(Object { properties, rest })
    }

    fn property(&mut self, name: &'a str, schema: &'a Value, optional: bool, here: Here<'a>) -> Property {
        let ty = self.child(schema, here, name);
        let max = if here.depth == 0 {
            self.detail.docs
        } else {
            self.detail.nested_docs
        };
        let (docs, facts) = match schema {
            Value::Object(keywords) => {
                let target = REFERENCES
                    .iter()
                    .find_map(|keyword| keywords.get(*keyword).and_then(Value::as_str))
                    .and_then(|reference| self.references.resolve(reference, here.resource).ok())
                    .filter(|_| !matches!(ty, Type::Named(_)))
                    .and_then(|place| place.node.as_object());
                docs(name, keywords, target, self.detail.extent, max)
            }
            _ => Default::default(),
        };
        // TypeScript compares the inherited member when the property is absent, and a method is no string.
        let ty = if optional && INHERITED.contains(&name) && ty != Type::Unknown {
            Type::Unknown.noted("every object inherits this name")
        } else {
            ty
        };
        Property {
            name: name.to_owned(),
            docs,
            facts,
            optional,
            ty,
        }
    }

    fn rest(&mut self, here: Here<'a>) -> Rest {
        let additional = match here
            .get("additionalProperties")
            .or_else(|| here.get("unevaluatedProperties"))
        {
            None => Rest::Silent,
            Some(Value::Bool(false)) => Rest::Closed,
            Some(Value::Bool(true)) => Rest::Open,
            Some(schema) => match self.child(schema, here, "") {
                Type::Unknown => Rest::Open,
                Type::Never => Rest::Closed,
                ty => Rest::Of(Box::new(ty)),
            },
        };
        let Some(patterns) = here
            .map("patternProperties")
            .filter(|patterns| !patterns.is_empty())
        else {
            return additional;
        };
        if additional == Rest::Open {
            return Rest::Open;
        }
        let typed: Vec<(&str, Type)> = patterns
            .iter()
            .map(|(pattern, schema)| (pattern.as_str(), self.child(schema, here, "")))
            .collect();
        let prefixes: Option<Vec<(String, Type)>> = typed
            .iter()
            .map(|(pattern, ty)| Some((plain_prefix(pattern)?.to_owned(), ty.clone())))
            .collect();
        match (prefixes, additional) {
            (Some(prefixes), Rest::Silent | Rest::Closed) if are_apart(&prefixes) => Rest::Prefixed(prefixes),
            (_, Rest::Of(other)) => widest(typed.into_iter().map(|(_, ty)| ty).chain([*other])),
            _ => widest(typed.into_iter().map(|(_, ty)| ty)),
        }
    }

    pub(super) fn array(&mut self, here: Here<'a>) -> Type {
        let count = |keyword: &str| {
            here.get(keyword)
                .and_then(Value::as_u64)
                .map(|count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        let (least, most) = (count("minItems").unwrap_or(0), count("maxItems"));
        let (leading, further) = match (here.list("prefixItems"), here.get("items")) {
            (Some(leading), items) => (leading.as_slice(), items),
            (None, Some(Value::Array(leading))) => (leading.as_slice(), here.get("additionalItems")),
            (None, items) => (&[][..], items),
        };
        if leading.len() > MAX_TUPLE {
            return Type::Array(Box::new(Type::Unknown))
                .noted(format!("{} positions, see the schema", leading.len()));
        }
        let mut items: Vec<Type> = leading.iter().map(|item| self.child(item, here, "")).collect();
        let mut rest = match further {
            None => Some(Type::Unknown),
            Some(further) => Some(self.child(further, here, here.name)).filter(|ty| *ty != Type::Never),
        };
        let fixed = most.is_some_and(|most| most == least) && least <= MAX_FIXED;
        let spelled = if items.is_empty() && !fixed {
            MAX_LEADING
        } else {
            MAX_FIXED
        };
        if let Some(further) = rest.as_ref().filter(|further| is_short(further)) {
            while items.len() < least && least <= spelled {
                items.push(further.clone());
            }
        }
        if let Some(most) = most.filter(|most| *most <= items.len()) {
            items.truncate(most);
            rest = None;
        }
        match rest {
            Some(rest) if items.is_empty() => Type::Array(Box::new(rest)),
            rest => {
                let required = least.min(items.len());
                Type::Tuple(Tuple {
                    items,
                    required,
                    rest: rest.map(Box::new),
                })
            }
        }
    }
}

/// The type of a property that is required or allowed by name only.
fn undeclared(rest: &Rest, name: &str) -> Type {
    match rest {
        Rest::Silent | Rest::Open => Type::Unknown,
        Rest::Closed => Type::Never,
        Rest::Of(ty) => (**ty).clone(),
        Rest::Prefixed(prefixes) => prefixes
            .iter()
            .find(|(prefix, _)| name.starts_with(prefix.as_str()))
            .map_or(Type::Unknown, |(_, ty)| ty.clone()),
    }
}

/// The only names a property may have, when `propertyNames` lists them.
fn key_names(here: Here<'_>) -> Option<Vec<&str>> {
    let names = here.map("propertyNames")?;
    let values = match (names.get("const"), names.get("enum")) {
        (Some(only), _) => std::slice::from_ref(only),
        (None, Some(Value::Array(values))) => values,
        _ => return None,
    };
    (values.len() <= MAX_KEY_NAMES).then(|| values.iter().filter_map(Value::as_str).collect())
}

fn widest(types: impl Iterator<Item = Type>) -> Rest {
    match Type::union(types) {
        Type::Unknown => Rest::Open,
        Type::Never => Rest::Closed,
        ty => Rest::Of(Box::new(ty)),
    }
}

/// What `^prefix` stands for, if the pattern is nothing more.
fn plain_prefix(pattern: &str) -> Option<&str> {
    let prefix = pattern.strip_prefix('^')?;
    let prefix = prefix.strip_suffix(".*").unwrap_or(prefix);
    (!prefix.is_empty()
        && prefix
            .chars()
            .all(|ch| ch.is_ascii_alphanumeric() || "-_:/".contains(ch)))
    .then_some(prefix)
}

/// Whether no name can begin with two of the prefixes: TypeScript wants agreement where they overlap.
fn are_apart(prefixes: &[(String, Type)]) -> bool {
    prefixes.iter().enumerate().all(|(at, (one, _))| {
        prefixes
            .iter()
            .skip(at + 1)
            .all(|(other, _)| !one.starts_with(other.as_str()) && !other.starts_with(one.as_str()))
    })
}
