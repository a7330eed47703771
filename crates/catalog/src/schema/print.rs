//! The type model as TypeScript text.

use super::{
    text::property_key,
    types::{Object, Property, Rest, Tuple, Type},
};

/// Longest object that stays on one line.
const MAX_INLINE_CHARS: usize = 100;
/// Most types that an index signature lists before it says `unknown`.
const MAX_INDEX_MEMBERS: usize = 12;

/// Prints types whose definitions go by `names`.
pub struct Printer<'a> {
    /// Name of each definition, by its index in the model.
    pub names: &'a [String],
}

/// How tightly the surroundings bind.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binding {
    Loose,
    Intersection,
    Postfix,
}

impl Printer<'_> {
    /// TypeScript text of `ty`, to stand at a place that is indented by `indent` levels.
    #[must_use]
    pub fn print(&self, ty: &Type, indent: usize) -> String {
        self.bound(ty, indent, Binding::Loose)
    }

    fn bound(&self, ty: &Type, indent: usize, binding: Binding) -> String {
        match ty {
            Type::Unknown => "unknown".to_owned(),
            Type::Never => "never".to_owned(),
            Type::Null => "null".to_owned(),
            Type::Boolean => "boolean".to_owned(),
            Type::Number => "number".to_owned(),
            Type::BigInt => "bigint".to_owned(),
            Type::String => "string".to_owned(),
            Type::Literal(literal) => literal.text.clone(),
            Type::Array(item) => format!("{}[]", self.bound(item, indent, Binding::Postfix)),
            Type::Tuple(tuple) => self.tuple(tuple, indent),
            Type::Object(object) => self.object(object, indent),
            Type::Union(members) => {
                let text = self.join(members, indent, " | ", Binding::Intersection);
                parenthesised(text, binding > Binding::Loose)
            }
            Type::Intersection(members) => {
                let text = self.join(members, indent, " & ", Binding::Postfix);
                parenthesised(text, binding > Binding::Intersection)
            }
            Type::Named(id) => self
                .names
                .get(*id)
                .map_or_else(|| "unknown".to_owned(), Clone::clone),
            Type::Noted(inner, note) => format!("{} /* {note} */", self.bound(inner, indent, binding)),
        }
    }

    fn join(&self, members: &[Type], indent: usize, sign: &str, binding: Binding) -> String {
        members
            .iter()
            .map(|member| self.bound(member, indent, binding))
            .collect::<Vec<_>>()
            .join(sign)
    }

    fn tuple(&self, tuple: &Tuple, indent: usize) -> String {
        let mut parts: Vec<String> = tuple
            .items
            .iter()
            .enumerate()
            .map(|(at, item)| {
                if at < tuple.required {
                    self.bound(item, indent, Binding::Loose)
                } else {
                    format!("{}?", self.bound(item, indent, Binding::Postfix))
                }
            })
            .collect();
        if let Some(rest) = &tuple.rest {
            parts.push(format!("...{}[]", self.bound(rest, indent, Binding::Postfix)));
        }
        format!("[{}]", parts.join(", "))
    }

    fn object(&self, object: &Object, indent: usize) -> String {
        if object.properties.is_empty() {
            match object.rest {
                Rest::Silent | Rest::Open => return "Record<string, unknown>".to_owned(),
                Rest::Closed => return "Record<string, never>".to_owned(),
                Rest::Of(_) | Rest::Prefixed(_) => {}
            }
        }
        let mut members: Vec<(String, String)> = object
            .properties
            .iter()
            .map(|property| {
                let mark = if property.optional { "?" } else { "" };
                let ty = self.bound(&property.ty, indent + 1, Binding::Loose);
                (
                    format!("{}{mark}: {ty}", property_key(&property.name)),
                    said(property),
                )
            })
            .collect();
        for (key, ty, optional) in index_signatures(object) {
            let undefined = if optional { " | undefined" } else { "" };
            let ty = self.bound(&ty, indent + 1, Binding::Loose);
            members.push((format!("[key: {key}]: {ty}{undefined}"), String::new()));
        }
        if members
            .iter()
            .all(|(text, docs)| docs.is_empty() && !text.contains('\n'))
        {
            let line = members
                .iter()
                .map(|(text, _)| text.as_str())
                .collect::<Vec<_>>()
                .join("; ");
            if line.chars().count() <= MAX_INLINE_CHARS {
                return format!("{{ {line} }}");
            }
        }
        let mut out = "{\n".to_owned();
        for (text, docs) in members {
            let pad = pad(indent + 1);
            // Behind the property a comment costs fewest tokens; behind a long type it would be out of sight.
            out.push_str(&match (docs.as_str(), text.contains('\n')) {
                ("", _) => format!("{pad}{text};\n"),
                (docs, false) => format!("{pad}{text}; // {docs}\n"),
                (docs, true) => format!("{pad}// {docs}\n{pad}{text};\n"),
            });
        }
        out.push_str(&pad(indent));
        out.push('}');
        out
    }
}

/// The comment of a property.
fn said(property: &Property) -> String {
    match (property.docs.as_str(), property.facts.as_str()) {
        (docs, "") => docs.to_owned(),
        ("", facts) => facts.to_owned(),
        (docs, facts) => format!("{docs} ({facts})"),
    }
}

/// Index signatures, wide enough that TypeScript finds every declared property compatible: key, type, and
/// whether `undefined` belongs to it because an optional property falls under it.
fn index_signatures(object: &Object) -> Vec<(String, Type, bool)> {
    let covering = |ty: &Type, applies: &dyn Fn(&Property) -> bool| {
        let declared: Vec<&Property> = object
            .properties
            .iter()
            .filter(|property| applies(property))
            .collect();
        let optional = declared.iter().any(|property| property.optional);
        let union = Type::union(
            std::iter::once(ty.clone()).chain(declared.iter().map(|property| property.ty.clone())),
        );
        match &union {
            Type::Union(members) if members.len() > MAX_INDEX_MEMBERS => (Type::Unknown, false),
            Type::Unknown => (Type::Unknown, false),
            _ => (union, optional),
        }
    };
    match &object.rest {
        Rest::Silent | Rest::Closed => Vec::new(),
        Rest::Open => vec![("string".to_owned(), Type::Unknown, false)],
        Rest::Of(ty) => {
            let (ty, optional) = covering(ty, &|_| true);
            vec![("string".to_owned(), ty, optional)]
        }
        Rest::Prefixed(prefixes) => prefixes
            .iter()
            .map(|(prefix, ty)| {
                let (ty, optional) = covering(ty, &|property| property.name.starts_with(prefix.as_str()));
                (format!("`{prefix}${{string}}`"), ty, optional)
            })
            .collect(),
    }
}

fn parenthesised(text: String, needed: bool) -> String {
    if needed { format!("({text})") } else { text }
}

fn pad(indent: usize) -> String {
    "  ".repeat(indent)
}
