//! What has to hold before TypeScript takes a set of definitions: none is only itself, no intersection of
//! unions multiplies without end.

use super::{read::Model, types::Type};

/// Most members an intersection of unions may have once multiplied out; the compiler gives up at 100,000.
const MAX_WIDTH: usize = 1_000;

pub(super) fn settle(model: &mut Model) {
    break_circles(model);
    let mut widths = vec![None; model.definitions.len()];
    for id in 0..model.definitions.len() {
        width_of(id, model, &mut widths, 0);
    }
    let width = |id: usize| widths.get(id).copied().flatten().unwrap_or(1);
    for definition in &mut model.definitions {
        narrow(&mut definition.ty, &width);
    }
    narrow(&mut model.body, &width);
}

/// The definitions a type is, or is one of, without an object or array in between.
fn direct(ty: &Type) -> Vec<usize> {
    match ty {
        Type::Named(id) => vec![*id],
        Type::Union(members) | Type::Intersection(members) => members.iter().flat_map(direct).collect(),
        Type::Noted(inner, _) => direct(inner),
        _ => Vec::new(),
    }
}

/// Takes out references by which a definition would be defined as itself.
fn break_circles(model: &mut Model) {
    let count = model.definitions.len();
    let mut done = vec![false; count];
    for start in 0..count {
        // Depth first with an explicit path; an edge back into the path is a circle.
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let enter = |id: usize, model: &Model| {
            (
                id,
                model
                    .definitions
                    .get(id)
                    .map_or_else(Vec::new, |def| direct(&def.ty)),
            )
        };
        if done.get(start) == Some(&false) {
            path.push(enter(start, model));
        }
        while let Some((id, next)) = path.last_mut() {
            let id = *id;
            let Some(target) = next.pop() else {
                if let Some(done) = done.get_mut(id) {
                    *done = true;
                }
                path.pop();
                continue;
            };
            if path.iter().any(|(on_path, _)| *on_path == target) {
                if let Some(definition) = model.definitions.get_mut(id) {
                    let ty = std::mem::replace(&mut definition.ty, Type::Unknown);
                    definition.ty = without(ty, target);
                }
            } else if done.get(target) == Some(&false) {
                path.push(enter(target, model));
            }
        }
    }
}

/// `A = A | B` is `B`, `A = A & B` is `B`, and `A = A` says nothing.
fn without(ty: Type, id: usize) -> Type {
    match ty {
        Type::Named(named) if named == id => Type::Unknown.noted("refers only to itself"),
        Type::Noted(inner, note) => without(*inner, id).noted(note),
        Type::Union(members) => {
            let kept: Vec<Type> = members
                .into_iter()
                .filter(|member| *member.bare() != Type::Named(id))
                .collect();
            Type::union(kept.into_iter().map(|member| without(member, id)))
        }
        Type::Intersection(members) => members
            .into_iter()
            .filter(|member| *member.bare() != Type::Named(id))
            .map(|member| without(member, id))
            .fold(Type::Unknown, Type::meet),
        other => other,
    }
}

/// How many members a definition has as a union. Circles are gone, so the recursion ends; its depth is the
/// number of definitions at most.
fn width_of(id: usize, model: &Model, widths: &mut [Option<usize>], depth: usize) -> usize {
    if let Some(width) = widths.get(id).copied().flatten() {
        return width;
    }
    let Some(definition) = model.definitions.get(id) else {
        return 1;
    };
    let width = if depth > model.definitions.len() {
        1
    } else {
        let mut inner = std::collections::HashMap::new();
        for next in direct(&definition.ty) {
            inner.insert(next, width_of(next, model, widths, depth + 1));
        }
        width_in(&definition.ty, &|id| inner.get(&id).copied().unwrap_or(1))
    };
    if let Some(slot) = widths.get_mut(id) {
        *slot = Some(width.min(MAX_WIDTH));
    }
    width.min(MAX_WIDTH)
}

fn width_in(ty: &Type, of: &dyn Fn(usize) -> usize) -> usize {
    match ty {
        Type::Named(id) => of(*id),
        Type::Noted(inner, _) => width_in(inner, of),
        Type::Union(members) => members
            .iter()
            .map(|member| width_in(member, of))
            .fold(0, usize::saturating_add),
        Type::Intersection(members) => members
            .iter()
            .map(|member| width_in(member, of))
            .fold(1, usize::saturating_mul),
        _ => 1,
    }
}

/// Drops parts of intersections that would multiply beyond [`MAX_WIDTH`]; what is left accepts more.
fn narrow(ty: &mut Type, of: &dyn Fn(usize) -> usize) {
    match ty {
        Type::Noted(inner, _) | Type::Array(inner) => narrow(inner, of),
        Type::Union(members) => members.iter_mut().for_each(|member| narrow(member, of)),
        Type::Tuple(tuple) => {
            tuple.items.iter_mut().for_each(|item| narrow(item, of));
            if let Some(rest) = &mut tuple.rest {
                narrow(rest, of);
            }
        }
        Type::Object(object) => {
            object
                .properties
                .iter_mut()
                .for_each(|property| narrow(&mut property.ty, of));
            match &mut object.rest {
                super::types::Rest::Of(ty) => narrow(ty, of),
                super::types::Rest::Prefixed(prefixes) => {
                    prefixes.iter_mut().for_each(|(_, ty)| narrow(ty, of))
                }
                _ => {}
            }
        }
        Type::Intersection(members) => {
            members.iter_mut().for_each(|member| narrow(member, of));
            let mut width = 1_usize;
            let before = members.len();
            members.retain(|member| {
                let next = width.saturating_mul(width_in(member, of));
                let fits = next <= MAX_WIDTH;
                if fits {
                    width = next;
                }
                fits
            });
            if members.len() < before {
                let kept = std::mem::take(members)
                    .into_iter()
                    .fold(Type::Unknown, Type::meet);
                *ty = kept.noted("further alternatives left out, see the schema");
            }
        }
        _ => {}
    }
}
