//! What a file has said of its properties, so that nothing is said twice.

use std::collections::HashMap;

use codecell_catalog::schema::{Object, Rest, Type};

/// The last description of each property name, in the order of the file.
///
/// The tools of a server share their vocabulary: of all that the schemas of real servers say about properties, more
/// than half is what they have just said about another one of that name.
#[derive(Default)]
pub(crate) struct Told {
    last: HashMap<String, String>,
}

impl Told {
    /// Takes out of `ty`, which is printed next, the descriptions that were the last words on their name.
    pub(crate) fn strip(&mut self, ty: &mut Type) {
        match ty {
            Type::Array(inner) | Type::Noted(inner, _) => self.strip(inner),
            Type::Union(members) | Type::Intersection(members) => {
                members.iter_mut().for_each(|member| self.strip(member));
            }
            Type::Tuple(tuple) => {
                tuple.items.iter_mut().for_each(|item| self.strip(item));
                if let Some(rest) = &mut tuple.rest {
                    self.strip(rest);
                }
            }
            Type::Object(object) => self.strip_object(object),
            _ => {}
        }
    }

    fn strip_object(&mut self, object: &mut Object) {
        for property in &mut object.properties {
            if !property.docs.is_empty() {
                if self.last.get(&property.name) == Some(&property.docs) {
                    property.docs.clear();
                } else {
                    self.last.insert(property.name.clone(), property.docs.clone());
                }
            }
            self.strip(&mut property.ty);
        }
        match &mut object.rest {
            Rest::Of(ty) => self.strip(ty),
            Rest::Prefixed(prefixes) => prefixes.iter_mut().for_each(|(_, ty)| self.strip(ty)),
            _ => {}
        }
    }
}
