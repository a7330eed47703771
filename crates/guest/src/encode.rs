//! Values of the engine as JSON text: the one way out of the guest.
//!
//! | value | form |
//! |---|---|
//! | `undefined`, functions, symbols | left out of objects, `null` elsewhere |
//! | `NaN`, infinities, an invalid `Date` | `null` |
//! | BigInt | its digits |
//! | `Date` | ISO string |
//! | `Map`, `Set` | array of `[key, value]`, array of values |
//! | `RegExp` | its source text, `/a/g` |
//! | errors | `{ name, message }` |
//! | `ArrayBuffer`, `DataView`, arrays of unsigned bytes | `{ "$bytes": base64 }` |
//! | other typed arrays | array of numbers |
//! | boxed primitives | the primitive |
//! | promises | a `TypeError` in arguments, the string `[Promise]` elsewhere |
//! | anything else | its own enumerable properties |
//!
//! A guest's own `toJSON` is honoured, on an object or on a class; one that was put on a built-in prototype is not.
//!
//! Writing stops where the text is longer than what it is for can be.

mod parts;
mod room;

use rquickjs::{Ctx, Object, Result, Value, qjs};

use self::parts::{Key, Open, Parts};
use self::room::Room;
pub(crate) use self::{
    parts::Entries,
    room::{MAX_ARGUMENT_BYTES, Purpose, too_large},
};
use crate::{bytes, errors, intrinsics, js, number, text};

/// How deep arrays and objects may nest.
///
/// Parsers on the other side stop at 128 levels, and the value travels inside an envelope of its own.
pub(crate) const MAX_DEPTH: usize = 100;

/// The JSON text of `value`; `undefined` and functions become `null`.
pub(crate) fn json<'js>(ctx: &Ctx<'js>, value: &Value<'js>, purpose: Purpose) -> Result<String> {
    let mut encoder = Encoder {
        ctx,
        room: Room::new(ctx, purpose),
        out: String::new(),
        open: Vec::new(),
    };
    encoder.place(value.clone())?;
    while let Some(top) = encoder.open.last_mut() {
        match top.next(&encoder.room, &encoder.out)? {
            Some(value) => {
                encoder.place(value)?;
                encoder.room.fit(&encoder.out, 0)?;
            }
            None => {
                encoder.out.push(if matches!(top.parts, Parts::Object { .. }) {
                    '}'
                } else {
                    ']'
                });
                encoder.open.pop();
            }
        }
    }
    Ok(encoder.out)
}

struct Encoder<'c, 'js> {
    ctx: &'c Ctx<'js>,
    room: Room<'c, 'js>,
    out: String,
    open: Vec<Open<'js>>,
}

/// What a value turned out to be.
enum Shape<'js> {
    Written,
    Omitted,
    Container(Parts<'js>),
}

impl<'js> Encoder<'_, 'js> {
    /// Writes `value` as the current part of what is open, or as the root.
    fn place(&mut self, value: Value<'js>) -> Result<()> {
        let value = self.apply_to_json(value)?;
        let before = self.out.len();
        let in_object = match self.open.last() {
            Some(open) => {
                if !open.empty {
                    self.out.push(',');
                }
                if let Key::Name(name) = &open.at {
                    text::push_json(&mut self.out, name);
                    self.out.push(':');
                }
                matches!(open.at, Key::Name(_))
            }
            None => false,
        };
        match self.shape(&value)? {
            Shape::Written => {}
            Shape::Omitted if in_object => {
                self.out.truncate(before);
                return Ok(());
            }
            Shape::Omitted => self.out.push_str("null"),
            Shape::Container(parts) => {
                self.check_open(&value)?;
                if let Some(open) = self.open.last_mut() {
                    open.empty = false;
                }
                self.out.push(if matches!(parts, Parts::Object { .. }) {
                    '{'
                } else {
                    '['
                });
                self.open.push(Open {
                    identity: value,
                    parts,
                    at: Key::Index(0),
                    empty: true,
                });
                return Ok(());
            }
        }
        if let Some(open) = self.open.last_mut() {
            open.empty = false;
        }
        Ok(())
    }

    /// Writes a string.
    fn string(&mut self, value: &Value<'js>) -> Result<()> {
        let closing = self.open.len();
        self.room.fit(&self.out, js::units(value)? + 2 + closing)?;
        text::push_json(&mut self.out, &js::text(value)?);
        Ok(())
    }

    /// Refuses a cycle and too much depth.
    fn check_open(&self, value: &Value<'js>) -> Result<()> {
        if self
            .open
            .iter()
            .any(|open| open.identity.as_raw() == value.as_raw())
        {
            let message = format!(
                "the value contains itself at `{}` and has no JSON form",
                self.path()
            );
            return Err(errors::throw(self.ctx, "TypeError", &message));
        }
        if self.open.len() >= MAX_DEPTH {
            let message = format!("the value is nested more than {MAX_DEPTH} levels deep");
            return Err(errors::throw(self.ctx, "RangeError", &message));
        }
        Ok(())
    }

    /// Where the part that is being written stands: `$.a[0].b`.
    fn path(&self) -> String {
        let mut path = String::from("$");
        for open in &self.open {
            match &open.at {
                Key::Index(index) => path.push_str(&format!("[{index}]")),
                Key::Name(name) => {
                    path.push('.');
                    path.push_str(name);
                }
            }
        }
        text::bounded(path, errors::MAX_NAME_BYTES)
    }

    fn apply_to_json(&self, value: Value<'js>) -> Result<Value<'js>> {
        let Some(object) = value.as_object() else {
            return Ok(value);
        };
        if value.is_function() || !has_own_way(object)? {
            return Ok(value);
        }
        let method: Value<'js> = object.get("toJSON")?;
        if !method.is_function() || js::is_native(&method, intrinsics::classes().native) {
            return Ok(value);
        }
        let key = match self.open.last().map(|open| &open.at) {
            Some(Key::Index(index)) => index.to_string(),
            Some(Key::Name(name)) => name.clone(),
            None => String::new(),
        };
        js::call(self.ctx, &method, &value, &[js::string(self.ctx, &key)?])
    }

    fn shape(&mut self, value: &Value<'js>) -> Result<Shape<'js>> {
        if value.is_undefined() || value.is_symbol() || value.is_function() {
            return Ok(Shape::Omitted);
        }
        if let Some(object) = value.as_object() {
            return self.object_shape(value, object);
        }
        if let Some(flag) = value.as_bool() {
            self.out.push_str(if flag { "true" } else { "false" });
        } else if let Some(number) = value.as_number() {
            number::push(&mut self.out, value, number)?;
        } else if value.is_string() {
            self.string(value)?;
        } else if value.is_big_int() {
            self.out.push_str(&js::text(value)?);
        } else {
            self.out.push_str("null");
        }
        Ok(Shape::Written)
    }

    fn object_shape(&mut self, value: &Value<'js>, object: &Object<'js>) -> Result<Shape<'js>> {
        if js::is_array(value)? {
            let length = js::length(object)?;
            return Ok(Shape::Container(Parts::Array {
                object: object.clone(),
                next: 0,
                length,
            }));
        }
        if !value.is_proxy()
            && let Some(shape) = self.built_in_shape(value, object)?
        {
            return Ok(shape);
        }
        let keys = js::keys(object)?.into_iter();
        Ok(Shape::Container(Parts::Object {
            object: object.clone(),
            keys,
        }))
    }

    /// The forms of objects whose content is not in their properties.
    fn built_in_shape(&mut self, value: &Value<'js>, object: &Object<'js>) -> Result<Option<Shape<'js>>> {
        let ctx = self.ctx;
        let raw = value.as_raw();
        let classes = intrinsics::classes();
        let class = js::class(value);
        if value.is_error() || class == classes.exception {
            self.out.push_str("{\"name\":");
            match errors::part(object, "name")? {
                Some(name) => self.string(&name)?,
                None => self.out.push_str("\"Error\""),
            }
            self.out.push_str(",\"message\":");
            match errors::part(object, "message")? {
                Some(message) => self.string(&message)?,
                None => self.out.push_str("\"\""),
            }
            self.out.push('}');
            return Ok(Some(Shape::Written));
        }
        // SAFETY: these only look at the object's class.
        let (is_date, is_map, is_set, is_regexp, typed) = unsafe {
            (
                qjs::JS_IsDate(raw),
                qjs::JS_IsMap(raw),
                qjs::JS_IsSet(raw),
                qjs::JS_IsRegExp(raw),
                qjs::JS_GetTypedArrayType(raw),
            )
        };
        if is_date {
            let time = intrinsics::method(ctx, "dateTime", value)?
                .as_number()
                .unwrap_or(f64::NAN);
            if time.is_finite() {
                text::push_json(
                    &mut self.out,
                    &js::text(&intrinsics::method(ctx, "dateIso", value)?)?,
                );
            } else {
                self.out.push_str("null");
            }
        } else if is_map {
            return Ok(Some(Shape::Container(Parts::List {
                entries: Entries::of_map(ctx, value)?,
                next: 0,
            })));
        } else if is_set {
            return Ok(Some(Shape::Container(Parts::List {
                entries: Entries::of_set(ctx, value)?,
                next: 0,
            })));
        } else if is_regexp {
            text::push_json(&mut self.out, &regexp(ctx, value)?);
        } else if value.is_promise() {
            if self.room.purpose == Purpose::Argument {
                let message = format!("a promise cannot be passed on, await it first: `{}`", self.path());
                return Err(errors::throw(ctx, "TypeError", &message));
            }
            self.out.push_str("\"[Promise]\"");
        } else if let Some(size) = bytes::size(ctx, value)? {
            self.room.fit(&self.out, size.div_ceil(3).saturating_mul(4))?;
            let content = bytes::of(ctx, value)?.unwrap_or_default();
            self.out.push_str("{\"$bytes\":\"");
            bytes::push_base64(&mut self.out, &content);
            self.out.push_str("\"}");
        } else if typed >= 0 {
            let length = intrinsics::method(ctx, "typedLength", value)?
                .as_number()
                .unwrap_or(0.0) as u32;
            return Ok(Some(Shape::Container(Parts::Array {
                object: object.clone(),
                next: 0,
                length,
            })));
        } else if let Some(kind) = classes.boxes.iter().position(|&boxed| boxed == class) {
            let unbox = intrinsics::get(ctx, "unbox")?;
            let unbox = unbox
                .as_object()
                .map(|list| js::at(list, kind as u32))
                .transpose()?;
            let inner = unbox.map(|unbox| js::call(ctx, &unbox, value, &[])).transpose()?;
            return Ok(Some(self.shape(&inner.unwrap_or_else(|| js::undefined(ctx)))?));
        } else if class == classes.symbol {
            return Ok(Some(Shape::Omitted));
        } else {
            return Ok(None);
        }
        Ok(Some(Shape::Written))
    }
}

/// Whether a `toJSON` that the guest wrote is reachable from `object` before a built-in prototype is.
fn has_own_way(object: &Object<'_>) -> Result<bool> {
    let mut at = object.clone();
    loop {
        if at.as_value().is_proxy() {
            return Ok(true);
        }
        if intrinsics::is_built_in_prototype(&at) {
            return Ok(false);
        }
        if js::has_own(&at, c"toJSON")? {
            return Ok(true);
        }
        match js::prototype(&at)? {
            Some(prototype) => at = prototype,
            None => return Ok(false),
        }
    }
}

/// A regular expression as it is written in a program.
pub(crate) fn regexp<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    let source = js::text(&intrinsics::method(ctx, "regexpSource", value)?)?;
    let mut out = format!("/{source}/");
    let flags = intrinsics::get(ctx, "regexpFlags")?;
    if let Some(flags) = flags.as_object() {
        for index in 0..js::length(flags)? {
            let entry = js::at(flags, index)?;
            let Some(entry) = entry.as_object() else { continue };
            let get: Value<'js> = entry.get("get")?;
            if js::call(ctx, &get, value, &[])?.as_bool() == Some(true) {
                out.push_str(&entry.get::<_, String>("flag")?);
            }
        }
    }
    Ok(out)
}
