//! Containers that are being written, part by part.

use rquickjs::{Atom, Ctx, Object, Result, Value};

use super::room::Room;
use crate::{intrinsics, js};

/// A container that is being written.
pub(super) struct Open<'js> {
    /// The object's identity, for cycles; it is kept alive by whoever holds it.
    pub(super) identity: Value<'js>,
    pub(super) parts: Parts<'js>,
    /// The part that is being written.
    pub(super) at: Key,
    pub(super) empty: bool,
}

/// Where a part stands in its container.
pub(super) enum Key {
    Index(u32),
    Name(String),
}

pub(super) enum Parts<'js> {
    Array {
        object: Object<'js>,
        next: u32,
        length: u32,
    },
    List {
        entries: Entries<'js>,
        next: u32,
    },
    Object {
        object: Object<'js>,
        keys: std::vec::IntoIter<Atom<'js>>,
    },
}

impl<'js> Open<'js> {
    /// The next part; its key is in `at` from then on. It is written behind `out`.
    pub(super) fn next(&mut self, room: &Room<'_, 'js>, out: &str) -> Result<Option<Value<'js>>> {
        match &mut self.parts {
            Parts::Array { object, next, length } => {
                if next >= length {
                    return Ok(None);
                }
                self.at = Key::Index(*next);
                *next += 1;
                js::at(object, *next - 1).map(Some)
            }
            Parts::List { entries, next } => {
                self.at = Key::Index(*next);
                *next = next.saturating_add(1);
                entries.next(room.ctx)
            }
            Parts::Object { object, keys } => {
                let Some(key) = keys.next() else { return Ok(None) };
                let name = key.to_value()?;
                room.fit(out, js::units(&name)?)?;
                self.at = Key::Name(js::text(&name)?);
                object.get(key).map(Some)
            }
        }
    }
}

/// What a Map or Set holds, by the iterator the language came with, one by one: a list of them all would take as much
/// memory again.
pub(crate) struct Entries<'js> {
    iterator: Value<'js>,
    step: &'static str,
}

impl<'js> Entries<'js> {
    /// `[key, value]` of a Map.
    pub(crate) fn of_map(ctx: &Ctx<'js>, map: &Value<'js>) -> Result<Self> {
        let iterator = intrinsics::method(ctx, "mapEntries", map)?;
        Ok(Self {
            iterator,
            step: "mapNext",
        })
    }

    /// The values of a Set.
    pub(crate) fn of_set(ctx: &Ctx<'js>, set: &Value<'js>) -> Result<Self> {
        let iterator = intrinsics::method(ctx, "setValues", set)?;
        Ok(Self {
            iterator,
            step: "setNext",
        })
    }

    /// All of them, for those who must not see what is added meanwhile.
    pub(crate) fn all(mut self, ctx: &Ctx<'js>) -> Result<Vec<Value<'js>>> {
        let mut all = Vec::new();
        while let Some(entry) = self.next(ctx)? {
            all.push(entry);
        }
        Ok(all)
    }

    /// The next one.
    pub(crate) fn next(&mut self, ctx: &Ctx<'js>) -> Result<Option<Value<'js>>> {
        let result = intrinsics::method(ctx, self.step, &self.iterator)?;
        let Some(result) = result.as_object() else {
            return Ok(None);
        };
        if result.get::<_, bool>("done")? {
            return Ok(None);
        }
        result.get("value").map(Some)
    }
}
