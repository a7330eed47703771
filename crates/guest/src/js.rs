//! The few operations on values that rquickjs does not offer, each of them safe to call on a hostile value.
//!
//! Reads may run guest code (getters, proxies); definitions never do: they do not consult prototypes.

use core::ffi::{CStr, c_int};
use core::ptr::{self, NonNull};

use rquickjs::{Atom, Ctx, Error, Object, Result, Value, qjs};

use crate::errors;

/// A property the guest may neither change nor see when it enumerates.
pub(crate) const HIDDEN: u32 = 0;
/// A property the guest may see and not change.
pub(crate) const READ_ONLY: u32 = qjs::JS_PROP_ENUMERABLE;
/// An ordinary property.
pub(crate) const PLAIN: u32 = qjs::JS_PROP_C_W_E;
/// How built-in properties are: writable, configurable, not enumerable.
pub(crate) const BUILT_IN: u32 = qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE;

/// Takes over a value the C API returned, or reports that it threw.
///
/// # Safety
///
/// `raw` is an owned value of this context's runtime.
pub(crate) unsafe fn own<'js>(ctx: &Ctx<'js>, raw: qjs::JSValue) -> Result<Value<'js>> {
    // SAFETY: only the tag is read.
    if unsafe { qjs::JS_IsException(raw) } {
        return Err(Error::Exception);
    }
    // SAFETY: ownership passes on.
    Ok(unsafe { Value::from_raw(ctx.clone(), raw) })
}

/// A second reference to a value, for C functions that take ownership.
fn give(value: &Value<'_>) -> qjs::JSValue {
    // SAFETY: the value is alive; the new count belongs to the caller.
    unsafe { qjs::JS_DupValue(value.ctx().as_raw().as_ptr(), value.as_raw()) }
}

/// `undefined`.
pub(crate) fn undefined<'js>(ctx: &Ctx<'js>) -> Value<'js> {
    Value::new_undefined(ctx.clone())
}

/// Calls `function`.
pub(crate) fn call<'js>(
    ctx: &Ctx<'js>,
    function: &Value<'js>,
    this: &Value<'js>,
    args: &[Value<'js>],
) -> Result<Value<'js>> {
    let mut raw: Vec<qjs::JSValue> = args.iter().map(Value::as_raw).collect();
    // SAFETY: function, this and arguments outlive the call, which borrows them.
    unsafe {
        let result = qjs::JS_Call(
            ctx.as_raw().as_ptr(),
            function.as_raw(),
            this.as_raw(),
            raw.len() as c_int,
            raw.as_mut_ptr(),
        );
        own(ctx, result)
    }
}

/// Calls `constructor` with `new`.
pub(crate) fn construct<'js>(
    ctx: &Ctx<'js>,
    constructor: &Value<'js>,
    args: &[Value<'js>],
) -> Result<Value<'js>> {
    let mut raw: Vec<qjs::JSValue> = args.iter().map(Value::as_raw).collect();
    // SAFETY: constructor and arguments outlive the call; the result is owned.
    unsafe {
        let made = qjs::JS_CallConstructor(
            ctx.as_raw().as_ptr(),
            constructor.as_raw(),
            raw.len() as c_int,
            raw.as_mut_ptr(),
        );
        own(ctx, made)
    }
}

/// A string value.
pub(crate) fn string<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Value<'js>> {
    // SAFETY: the bytes are copied.
    unsafe {
        own(
            ctx,
            qjs::JS_NewStringLen(ctx.as_raw().as_ptr(), text.as_ptr().cast(), text.len() as _),
        )
    }
}

/// The text of a value: of a string itself, of anything else as `String(value)` would make it.
///
/// A lone surrogate has no form in UTF-8 and becomes U+FFFD, as it does in `TextEncoder`.
pub(crate) fn text(value: &Value<'_>) -> Result<String> {
    let ctx = value.ctx().as_raw().as_ptr();
    let mut len = 0;
    // SAFETY: the returned bytes are copied before they are freed.
    unsafe {
        let at = qjs::JS_ToCStringLen2(ctx, &raw mut len, value.as_raw(), false);
        if at.is_null() {
            return Err(Error::Exception);
        }
        let bytes = core::slice::from_raw_parts(at.cast::<u8>(), len as usize);
        let text = crate::text::from_engine(bytes);
        qjs::JS_FreeCString(ctx, at);
        Ok(text)
    }
}

/// An empty object.
pub(crate) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    Object::new(ctx.clone())
}

/// An empty object without a prototype.
pub(crate) fn bare<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    Object::new_proto(ctx.clone(), None)
}

/// An empty array.
pub(crate) fn array<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    // SAFETY: a fresh value is owned.
    let value = unsafe { own(ctx, qjs::JS_NewArray(ctx.as_raw().as_ptr()))? };
    value.into_object().ok_or(Error::Unknown)
}

/// An atom that is freed when it goes out of scope.
struct Key<'c, 'js> {
    ctx: &'c Ctx<'js>,
    atom: qjs::JSAtom,
}

impl<'c, 'js> Key<'c, 'js> {
    fn new(ctx: &'c Ctx<'js>, atom: qjs::JSAtom) -> Result<Self> {
        if atom == qjs::JS_ATOM_NULL {
            Err(Error::Exception)
        } else {
            Ok(Self { ctx, atom })
        }
    }

    fn of_text(ctx: &'c Ctx<'js>, key: &str) -> Result<Self> {
        // SAFETY: the bytes are copied; the atom is owned.
        Self::new(ctx, unsafe {
            qjs::JS_NewAtomLen(ctx.as_raw().as_ptr(), key.as_ptr().cast(), key.len() as _)
        })
    }

    fn of_value(ctx: &'c Ctx<'js>, key: &Value<'js>) -> Result<Self> {
        // SAFETY: the atom is owned.
        Self::new(ctx, unsafe {
            qjs::JS_ValueToAtom(ctx.as_raw().as_ptr(), key.as_raw())
        })
    }
}

impl Drop for Key<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: the atom is owned by this value alone.
        unsafe { qjs::JS_FreeAtom(self.ctx.as_raw().as_ptr(), self.atom) }
    }
}

fn check(status: c_int) -> Result<()> {
    if status < 0 { Err(Error::Exception) } else { Ok(()) }
}

/// Defines an own property under `key`, whatever the prototypes say about that name.
pub(crate) fn define(object: &Object<'_>, key: &str, value: &Value<'_>, flags: u32) -> Result<()> {
    define_atom(object, &Key::of_text(object.ctx(), key)?, value, flags)
}

/// Defines an own property under a key that may be a symbol.
pub(crate) fn define_value<'js>(
    object: &Object<'js>,
    key: &Value<'js>,
    value: &Value<'js>,
    flags: u32,
) -> Result<()> {
    define_atom(object, &Key::of_value(object.ctx(), key)?, value, flags)
}

fn define_atom(object: &Object<'_>, key: &Key<'_, '_>, value: &Value<'_>, flags: u32) -> Result<()> {
    // SAFETY: the value's new count is given away.
    check(unsafe {
        qjs::JS_DefinePropertyValue(
            object.ctx().as_raw().as_ptr(),
            object.as_value().as_raw(),
            key.atom,
            give(value),
            (flags | qjs::JS_PROP_THROW) as c_int,
        )
    })
}

/// Defines an accessor without a setter.
pub(crate) fn define_getter(object: &Object<'_>, key: &str, getter: &Value<'_>, flags: u32) -> Result<()> {
    let key = Key::of_text(object.ctx(), key)?;
    // SAFETY: the getter's new count is given away.
    check(unsafe {
        qjs::JS_DefinePropertyGetSet(
            object.ctx().as_raw().as_ptr(),
            object.as_value().as_raw(),
            key.atom,
            give(getter),
            qjs::JS_UNDEFINED,
            (flags | qjs::JS_PROP_THROW) as c_int,
        )
    })
}

/// Defines the element `index` of an array.
pub(crate) fn define_at(array: &Object<'_>, index: u32, value: &Value<'_>) -> Result<()> {
    // SAFETY: the value's new count is given away.
    let status = unsafe {
        qjs::JS_DefinePropertyValueUint32(
            array.ctx().as_raw().as_ptr(),
            array.as_value().as_raw(),
            index,
            give(value),
            (PLAIN | qjs::JS_PROP_THROW) as c_int,
        )
    };
    if status < 0 { Err(Error::Exception) } else { Ok(()) }
}

/// Reads the element `index`.
pub(crate) fn at<'js>(object: &Object<'js>, index: u32) -> Result<Value<'js>> {
    // SAFETY: the result is owned.
    unsafe {
        own(
            object.ctx(),
            qjs::JS_GetPropertyUint32(object.ctx().as_raw().as_ptr(), object.as_value().as_raw(), index),
        )
    }
}

/// Reads `length` as array functions do.
pub(crate) fn length(object: &Object<'_>) -> Result<u32> {
    let mut length = 0;
    // SAFETY: the number is written before the status is looked at.
    let status = unsafe {
        qjs::JS_GetLength(
            object.ctx().as_raw().as_ptr(),
            object.as_value().as_raw(),
            &raw mut length,
        )
    };
    if status < 0 {
        Err(Error::Exception)
    } else {
        Ok(length.clamp(0, i64::from(u32::MAX)) as u32)
    }
}

/// The length of a string in UTF-16 units. Its text in UTF-8 has at least as many bytes.
pub(crate) fn units(string: &Value<'_>) -> Result<usize> {
    let mut length = 0;
    // SAFETY: the number is written before the status is looked at; of a string no guest code is asked.
    let status =
        unsafe { qjs::JS_GetLength(string.ctx().as_raw().as_ptr(), string.as_raw(), &raw mut length) };
    if status < 0 {
        Err(Error::Exception)
    } else {
        Ok(length.max(0) as usize)
    }
}

/// The text of a string's first `units`, read one by one: the engine would first make one piece of a string that was
/// put together from many.
pub(crate) fn head(string: &Value<'_>, units: usize) -> Result<String> {
    let ctx = string.ctx();
    let mut read = Vec::with_capacity(units);
    for index in 0..units.min(self::units(string)?) {
        // SAFETY: the result is owned; of a string no guest code is asked.
        let unit = unsafe {
            own(
                ctx,
                qjs::JS_GetPropertyUint32(ctx.as_raw().as_ptr(), string.as_raw(), index as u32),
            )?
        };
        let mut len = 0;
        // SAFETY: the returned units are copied before they are freed.
        unsafe {
            let at = qjs::JS_ToCStringLenUTF16(ctx.as_raw().as_ptr(), &raw mut len, unit.as_raw());
            if at.is_null() {
                return Err(Error::Exception);
            }
            read.extend_from_slice(core::slice::from_raw_parts(at, len as usize));
            qjs::JS_FreeCStringUTF16(ctx.as_raw().as_ptr(), at);
        }
    }
    Ok(String::from_utf16_lossy(&read))
}

/// The own enumerable string keys, in order.
pub(crate) fn keys<'js>(object: &Object<'js>) -> Result<Vec<Atom<'js>>> {
    let filter = rquickjs::Filter::new().string().enum_only();
    object.own_keys::<Atom<'js>>(filter).collect()
}

/// Whether `object` itself has a property of this name.
pub(crate) fn has_own(object: &Object<'_>, key: &CStr) -> Result<bool> {
    let ctx = object.ctx().as_raw().as_ptr();
    // SAFETY: without a descriptor to fill nothing is written; the atom is freed here.
    let status = unsafe {
        let atom = qjs::JS_NewAtom(ctx, key.as_ptr());
        let status = qjs::JS_GetOwnProperty(ctx, ptr::null_mut(), object.as_value().as_raw(), atom);
        qjs::JS_FreeAtom(ctx, atom);
        status
    };
    if status < 0 {
        Err(Error::Exception)
    } else {
        Ok(status > 0)
    }
}

/// The own member `key`, or `undefined`: what the prototypes say of that name is the guest's word.
pub(crate) fn own_member<'js>(object: &Object<'js>, key: &CStr) -> Result<Value<'js>> {
    if !has_own(object, key)? {
        return Ok(undefined(object.ctx()));
    }
    // SAFETY: the name outlives the call; the result is owned.
    unsafe {
        own(
            object.ctx(),
            qjs::JS_GetPropertyStr(
                object.ctx().as_raw().as_ptr(),
                object.as_value().as_raw(),
                key.as_ptr(),
            ),
        )
    }
}

/// Whether a value is an array, or a proxy of one.
pub(crate) fn is_array(value: &Value<'_>) -> Result<bool> {
    let mut at = value.clone();
    while at.is_proxy() {
        let ctx = at.ctx();
        // SAFETY: the result is owned.
        at = unsafe { own(ctx, qjs::JS_GetProxyTarget(ctx.as_raw().as_ptr(), at.as_raw()))? };
    }
    Ok(at.is_array())
}

/// The prototype, or nothing for objects without one.
pub(crate) fn prototype<'js>(object: &Object<'js>) -> Result<Option<Object<'js>>> {
    // SAFETY: the result is owned.
    let value = unsafe {
        own(
            object.ctx(),
            qjs::JS_GetPrototype(object.ctx().as_raw().as_ptr(), object.as_value().as_raw()),
        )?
    };
    Ok(value.into_object())
}

/// The internal class of an object; two objects of one built-in kind share it whatever their prototypes are.
pub(crate) fn class(value: &Value<'_>) -> u32 {
    // SAFETY: only the object's header is read.
    unsafe { qjs::JS_GetClassID(value.as_raw()) }
}

/// Freezes an object.
pub(crate) fn freeze(object: &Object<'_>) -> Result<()> {
    // SAFETY: the object is borrowed.
    let status = unsafe { qjs::JS_FreezeObject(object.ctx().as_raw().as_ptr(), object.as_value().as_raw()) };
    if status < 0 { Err(Error::Exception) } else { Ok(()) }
}

/// A call of a native function.
pub(crate) struct Invocation<'js> {
    /// The context of the call.
    pub(crate) ctx: Ctx<'js>,
    /// The arguments that were passed.
    pub(crate) args: Vec<Value<'js>>,
    /// What the function was made with.
    pub(crate) data: Value<'js>,
}

impl<'js> Invocation<'js> {
    /// The argument at `index`, or `undefined`.
    pub(crate) fn arg(&self, index: usize) -> Value<'js> {
        self.args
            .get(index)
            .cloned()
            .unwrap_or_else(|| undefined(&self.ctx))
    }
}

/// The body of a native function.
pub(crate) type Native = for<'js> fn(&Invocation<'js>) -> Result<Value<'js>>;

/// Makes a function object out of an entry of [`crate::natives::TABLE`].
pub(crate) fn native<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    length: u8,
    entry: usize,
    data: &Value<'js>,
) -> Result<Value<'js>> {
    let mut held = [data.as_raw()];
    // SAFETY: the data is counted by the callee; the trampoline has the signature that is asked for.
    let function = unsafe {
        own(
            ctx,
            qjs::JS_NewCFunctionData(
                ctx.as_raw().as_ptr(),
                Some(trampoline),
                c_int::from(length),
                entry as c_int,
                1,
                held.as_mut_ptr(),
            ),
        )?
    };
    if let Some(object) = function.as_object() {
        define(object, "name", &string(ctx, name)?, qjs::JS_PROP_CONFIGURABLE)?;
    }
    Ok(function)
}

/// Whether a function was made by [`native`].
pub(crate) fn is_native(value: &Value<'_>, native_class: u32) -> bool {
    value.is_function() && class(value) == native_class
}

/// The C function behind every native: the table entry is its `magic`.
unsafe extern "C" fn trampoline(
    ctx: *mut qjs::JSContext,
    _this: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    magic: c_int,
    data: *mut qjs::JSValue,
) -> qjs::JSValue {
    let Some(raw) = NonNull::new(ctx) else {
        return qjs::JS_UNDEFINED;
    };
    // SAFETY: the engine passes its own live context, `argc` borrowed arguments and the one datum of `native`.
    let (invocation, body) = unsafe {
        let ctx = Ctx::from_raw(raw);
        let borrow =
            |value: qjs::JSValue| Value::from_raw(ctx.clone(), qjs::JS_DupValue(raw.as_ptr(), value));
        let args = (0..argc.max(0) as usize)
            .map(|index| borrow(*argv.add(index)))
            .collect();
        let invocation = Invocation {
            args,
            data: borrow(*data),
            ctx: ctx.clone(),
        };
        (invocation, crate::natives::TABLE.get(magic as usize))
    };
    let Some((_, _, body)) = body else {
        return qjs::JS_UNDEFINED;
    };
    match body(&invocation) {
        Ok(value) => give(&value),
        Err(Error::Exception) => qjs::JS_EXCEPTION,
        Err(other) => {
            // The engine itself refused something, for want of memory as a rule.
            let _ = errors::throw(&invocation.ctx, "InternalError", &other.to_string());
            qjs::JS_EXCEPTION
        }
    }
}
