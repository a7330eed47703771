//! Names for the definitions of one file, each written once however many tools share it.

use std::collections::{HashMap, HashSet};

use codecell_catalog::schema::{Model, Printer, Rest, Type};

use crate::told::Told;

/// Global types that a definition of the same name would hide from the rest of the file.
const TAKEN: &[&str] = &[
    "Array",
    "Promise",
    "Record",
    "McpApiHeader",
    "McpContent",
    "McpPrompt",
    "McpPrompts",
    "McpResourceContents",
    "McpResources",
    "McpSearchHit",
    "McpToolResult",
];
/// Longest name of a definition; longer ones only cost.
const MAX_NAME_CHARS: usize = 40;
/// Stands for a definition's own name while it is compared with others.
const SELF: &str = "\u{0}";

/// Definitions written so far.
#[derive(Default)]
pub(crate) struct Definitions {
    by_text: HashMap<String, String>,
    names: HashSet<String>,
    told: Option<Told>,
}

impl Definitions {
    /// For a file of many tools, in which no description is repeated.
    pub(crate) fn told_once() -> Self {
        Self {
            told: Some(Told::default()),
            ..Self::default()
        }
    }

    /// `ty` without what the file has said already; to be printed next.
    pub(crate) fn untold(&mut self, mut ty: Type) -> Type {
        if let Some(told) = &mut self.told {
            told.strip(&mut ty);
        }
        ty
    }

    /// Writes what `model` defines and no earlier tool did, and answers the names to print `model` with.
    pub(crate) fn write(&mut self, model: &Model, fallback: &str, out: &mut String) -> Vec<String> {
        let mut names: Vec<Option<String>> = vec![None; model.definitions.len()];
        for id in dependencies_first(model) {
            let Some(definition) = model.definitions.get(id) else {
                continue;
            };
            // Part of a larger circle: named before it is written, and not compared.
            let fixed = names.get(id).cloned().flatten();
            for next in mentions(&definition.ty) {
                if next != id && names.get(next).is_some_and(Option::is_none) {
                    let name = self.fresh(model, next, fallback);
                    put(&mut names, next, name);
                }
            }
            let own = fixed.clone().unwrap_or_else(|| SELF.to_owned());
            let shown: Vec<String> = names
                .iter()
                .enumerate()
                .map(|(at, name)| {
                    if at == id {
                        own.clone()
                    } else {
                        name.clone().unwrap_or_default()
                    }
                })
                .collect();
            let text = Printer { names: &shown }.print(&definition.ty, 1);
            let name = match (fixed, self.by_text.get(&text)) {
                (Some(name), _) => name,
                (None, Some(name)) => {
                    put(&mut names, id, name.clone());
                    continue;
                }
                (None, None) => {
                    let name = self.fresh(model, id, fallback);
                    self.by_text.insert(text.clone(), name.clone());
                    name
                }
            };
            if !definition.docs.is_empty() {
                out.push_str(&format!("  /** {} */\n", definition.docs));
            }
            put(&mut names, id, name.clone());
            // Compared with all its words, written without those that stand above.
            let ty = self.untold(definition.ty.clone());
            let text = Printer { names: &shown }.print(&ty, 1);
            out.push_str(&format!("  type {name} = {};\n", text.replace(SELF, &name)));
        }
        names.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn fresh(&mut self, model: &Model, id: usize, fallback: &str) -> String {
        let suggested = model
            .definitions
            .get(id)
            .map_or("", |definition| definition.name.as_str());
        let base = type_name(suggested)
            .or_else(|| type_name(fallback))
            .unwrap_or_else(|| "Shape".to_owned());
        let mut name = base.clone();
        let mut number = 2_usize;
        while TAKEN.contains(&name.as_str()) || !self.names.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }
}

fn put(names: &mut [Option<String>], id: usize, name: String) {
    if let Some(slot) = names.get_mut(id) {
        *slot = Some(name);
    }
}

/// `foo-bar` as `FooBar`; nothing when no letter is left.
fn type_name(text: &str) -> Option<String> {
    let mut name = String::new();
    for mut word in text.split(|ch: char| !ch.is_ascii_alphanumeric()) {
        // No name begins with a digit, and none with a small letter: that could be a keyword.
        if name.is_empty() {
            word = word.trim_start_matches(|ch: char| ch.is_ascii_digit());
        }
        let mut chars = word.chars();
        if let Some(first) = chars.next() {
            name.push(first.to_ascii_uppercase());
            name.push_str(chars.as_str());
        }
    }
    let name: String = name.chars().take(MAX_NAME_CHARS).collect();
    (!name.is_empty()).then_some(name)
}

/// Definition indices, each after those it mentions, as far as circles allow.
fn dependencies_first(model: &Model) -> Vec<usize> {
    let count = model.definitions.len();
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    for start in 0..count {
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut next = Some(start);
        loop {
            if let Some(id) = next.take()
                && let Some(seen) = seen.get_mut(id).filter(|seen| !**seen)
            {
                *seen = true;
                let mut mentioned = model
                    .definitions
                    .get(id)
                    .map_or_else(Vec::new, |def| mentions(&def.ty));
                mentioned.reverse();
                path.push((id, mentioned));
            }
            let Some((id, mentioned)) = path.last_mut() else {
                break;
            };
            next = mentioned.pop();
            if next.is_none() {
                order.push(*id);
                path.pop();
            }
        }
    }
    order
}

/// Definitions that a type mentions anywhere, in order of appearance.
fn mentions(ty: &Type) -> Vec<usize> {
    let mut found = Vec::new();
    let mut stack = vec![ty];
    while let Some(ty) = stack.pop() {
        match ty {
            Type::Named(id) if !found.contains(id) => found.push(*id),
            Type::Array(inner) | Type::Noted(inner, _) => stack.push(inner),
            Type::Union(members) | Type::Intersection(members) => stack.extend(members.iter().rev()),
            Type::Tuple(tuple) => {
                stack.extend(tuple.rest.as_deref());
                stack.extend(tuple.items.iter().rev());
            }
            Type::Object(object) => {
                match &object.rest {
                    Rest::Of(ty) => stack.push(ty),
                    Rest::Prefixed(prefixes) => stack.extend(prefixes.iter().rev().map(|(_, ty)| ty)),
                    _ => {}
                }
                stack.extend(object.properties.iter().rev().map(|property| &property.ty));
            }
            _ => {}
        }
    }
    found
}
