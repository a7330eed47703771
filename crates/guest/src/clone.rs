//! `structuredClone`, for the kinds of values a cell has.

use std::collections::BTreeMap;

use rquickjs::{Ctx, Error, Object, Result, Value, qjs};

use crate::encode::{self, Entries};
use crate::{bytes, calls, errors, intrinsics, js};

/// How deep a value may nest. Each level is a native call here.
const MAX_DEPTH: usize = 500;

/// A deep copy of `value`; shared parts and cycles stay shared and cyclic.
pub(crate) fn deep<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Value<'js>> {
    Copier {
        ctx,
        seen: BTreeMap::new(),
        depth: 0,
    }
    .copy(value)
}

struct Copier<'c, 'js> {
    ctx: &'c Ctx<'js>,
    /// Copies by the identity of their originals, which are held so that no identity is used twice.
    seen: BTreeMap<u64, (Value<'js>, Value<'js>)>,
    depth: usize,
}

impl<'js> Copier<'_, 'js> {
    fn copy(&mut self, value: &Value<'js>) -> Result<Value<'js>> {
        let Some(object) = value.as_object() else {
            return if value.is_symbol() {
                Err(self.refuse("a symbol"))
            } else {
                Ok(value.clone())
            };
        };
        if let Some((_, copy)) = self.seen.get(&value.as_raw()) {
            return Ok(copy.clone());
        }
        if value.is_function() {
            return Err(self.refuse("a function"));
        }
        if self.depth == MAX_DEPTH {
            let message = format!("structuredClone: the value is nested more than {MAX_DEPTH} levels deep");
            return Err(errors::throw(self.ctx, "RangeError", &message));
        }
        self.depth += 1;
        let copy = self.copy_object(value, object);
        self.depth -= 1;
        copy
    }

    fn remember(&mut self, value: &Value<'js>, copy: &Value<'js>) {
        self.seen.insert(value.as_raw(), (value.clone(), copy.clone()));
    }

    fn copy_object(&mut self, value: &Value<'js>, object: &Object<'js>) -> Result<Value<'js>> {
        let ctx = self.ctx;
        let raw = value.as_raw();
        // SAFETY: these only look at the object's class.
        let (is_map, is_set, is_date, is_regexp) = unsafe {
            (
                qjs::JS_IsMap(raw),
                qjs::JS_IsSet(raw),
                qjs::JS_IsDate(raw),
                qjs::JS_IsRegExp(raw),
            )
        };
        let class = js::class(value);
        if value.is_array() {
            let copy = js::array(ctx)?;
            self.remember(value, copy.as_value());
            let length = Value::new_number(ctx.clone(), f64::from(js::length(object)?));
            js::define(&copy, "length", &length, qjs::JS_PROP_WRITABLE)?;
            return self.copy_properties(object, copy);
        }
        if value.is_proxy() {
            return Err(self.refuse("a proxy"));
        }
        if is_map {
            let copy = self.construct("Map", &[])?;
            self.remember(value, &copy);
            for entry in Entries::of_map(ctx, value)?.all(ctx)? {
                let entry = entry.as_object().ok_or(Error::Unknown)?;
                let pair = [self.copy(&js::at(entry, 0)?)?, self.copy(&js::at(entry, 1)?)?];
                js::call(ctx, &intrinsics::get(ctx, "mapSet")?, &copy, &pair)?;
            }
            return Ok(copy);
        }
        if is_set {
            let copy = self.construct("Set", &[])?;
            self.remember(value, &copy);
            for item in Entries::of_set(ctx, value)?.all(ctx)? {
                let item = self.copy(&item)?;
                js::call(ctx, &intrinsics::get(ctx, "setAdd")?, &copy, &[item])?;
            }
            return Ok(copy);
        }
        let simple = if is_date {
            Some(self.construct("Date", &[intrinsics::method(ctx, "dateTime", value)?])?)
        } else if is_regexp {
            let source = intrinsics::method(ctx, "regexpSource", value)?;
            let text = encode::regexp(ctx, value)?;
            let flags = text.rsplit('/').next().unwrap_or_default();
            Some(self.construct("RegExp", &[source, js::string(ctx, flags)?])?)
        } else if value.is_error() {
            let (name, message) = errors::name_and_message(object)?;
            let known = errors::is_standard(ctx, &name)?;
            let copy = errors::make(
                ctx,
                if known { &name } else { "Error" },
                &message,
                &errors::Site::default(),
            )?;
            if let Some(into) = copy.as_object() {
                let stack = errors::shown_stack(ctx, value);
                js::define(into, "stack", &js::string(ctx, &stack)?, js::BUILT_IN)?;
            }
            Some(copy)
        } else if let Some(content) = bytes::storage(ctx, value)? {
            Some(self.copy_bytes(value, &content)?)
        } else if let Some(kind) = intrinsics::classes()
            .boxes
            .iter()
            .position(|&boxed| boxed == class)
        {
            let unbox = intrinsics::get(ctx, "unbox")?
                .into_object()
                .ok_or(Error::Unknown)?;
            let inner = js::call(ctx, &js::at(&unbox, kind as u32)?, value, &[])?;
            Some(js::call(
                ctx,
                &intrinsics::get(ctx, "Object")?,
                &js::undefined(ctx),
                &[inner],
            )?)
        } else {
            None
        };
        if let Some(copy) = simple {
            self.remember(value, &copy);
            return Ok(copy);
        }
        if intrinsics::classes().plain != class {
            let what = format!("a value of this kind ({})", calls::kind(value));
            return Err(self.refuse(&what));
        }
        let copy = js::object(ctx)?;
        self.remember(value, copy.as_value());
        self.copy_properties(object, copy)
    }

    fn copy_properties(&mut self, from: &Object<'js>, into: Object<'js>) -> Result<Value<'js>> {
        for key in js::keys(from)? {
            let part = self.copy(&from.get(key.clone())?)?;
            js::define_value(&into, &key.to_value()?, &part, js::PLAIN)?;
        }
        Ok(into.into_value())
    }

    /// A copy of a buffer or view, with storage of its own.
    fn copy_bytes(&self, value: &Value<'js>, content: &[u8]) -> Result<Value<'js>> {
        let ctx = self.ctx;
        // SAFETY: the bytes are copied; the result is owned.
        let buffer = unsafe {
            js::own(
                ctx,
                qjs::JS_NewArrayBufferCopy(ctx.as_raw().as_ptr(), content.as_ptr(), content.len() as _),
            )?
        };
        // SAFETY: only the object's class is looked at.
        let (is_buffer, is_view) = unsafe {
            (
                qjs::JS_IsArrayBuffer(value.as_raw()),
                qjs::JS_IsDataView(value.as_raw()),
            )
        };
        if is_buffer {
            return Ok(buffer);
        }
        if is_view {
            return self.construct("DataView", &[buffer]);
        }
        let kind = bytes::typed(value).ok_or(Error::Unknown)?;
        let mut args = [buffer.as_raw(), qjs::JS_UNDEFINED, qjs::JS_UNDEFINED];
        // SAFETY: the arguments outlive the call; the result is owned.
        unsafe {
            js::own(
                ctx,
                qjs::JS_NewTypedArray(ctx.as_raw().as_ptr(), 3, args.as_mut_ptr(), kind),
            )
        }
    }

    fn construct(&self, name: &str, args: &[Value<'js>]) -> Result<Value<'js>> {
        js::construct(self.ctx, &intrinsics::get(self.ctx, name)?, args)
    }

    fn refuse(&self, what: &str) -> Error {
        errors::throw(
            self.ctx,
            "DataCloneError",
            &format!("structuredClone: {what} cannot be cloned"),
        )
    }
}
