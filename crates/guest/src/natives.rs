//! The native functions behind the globals. The prelude gets them as one object; a guest never sees that object.

use std::cell::RefCell;

use rquickjs::{Ctx, Error, Object, Persistent, Result, Value, qjs};

use crate::encode::{self, Purpose};
use crate::js::{self, Invocation, Native};
use crate::wall::{self, Kind};
use crate::{budget, bytes, calls, clone, decode, errors, inspect, intrinsics, text};

/// Every native: name, `length`, body. A function object refers to its entry by position.
pub(crate) const TABLE: &[(&str, u8, Native)] = &[
    ("append", 2, append),
    ("ask", 1, ask),
    ("call", 2, call),
    ("clearTimeout", 1, clear_timeout),
    ("convenience", 2, convenience),
    ("convenienceCall", 1, convenience_call),
    ("decodeUtf8", 5, decode_utf8),
    ("define", 4, define),
    ("defineBuiltIn", 3, define_built_in),
    ("defineGetter", 3, define_getter),
    ("encodeInto", 2, encode_into),
    ("encodeUtf8", 1, encode_utf8),
    ("freeze", 1, freeze),
    ("freezeDeep", 1, freeze_deep),
    ("getRandomValues", 1, get_random_values),
    ("isResolver", 1, is_resolver),
    ("isUtf8Label", 1, is_utf8_label),
    ("json", 1, json_output),
    ("keys", 1, keys),
    ("later", 1, later),
    ("member", 2, member),
    ("memberCall", 0, member_call),
    ("now", 0, now),
    ("print", 1, print),
    ("printCall", 0, print_call),
    ("queueMicrotask", 1, queue_microtask),
    ("random", 0, random),
    ("randomUUID", 0, random_uuid),
    ("setTimeout", 2, set_timeout),
    ("structuredClone", 1, structured_clone),
    ("text", 1, text_output),
    ("yield_control", 0, yield_control),
];

thread_local! {
    /// State of the random numbers; seeded for each run.
    static RANDOM: RefCell<[u64; 2]> = const { RefCell::new([1, 2]) };
    /// When the run began, in microseconds.
    static BEGAN: RefCell<f64> = const { RefCell::new(0.0) };
    /// The prelude's function that installs what is visible in this run.
    static BEGIN: RefCell<Option<Persistent<Value<'static>>>> = const { RefCell::new(None) };
}

/// The natives as one object, for the prelude.
pub(crate) fn table<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let table = js::bare(ctx)?;
    for (entry, (name, length, _)) in TABLE.iter().enumerate() {
        let function = js::native(ctx, name, *length, entry, &js::undefined(ctx))?;
        js::define(&table, name, &function, js::PLAIN)?;
    }
    Ok(table)
}

/// Keeps what the prelude wants called when a run begins.
pub(crate) fn on_begin<'js>(ctx: &Ctx<'js>, function: Value<'js>) {
    BEGIN.set(Some(Persistent::save(ctx, function)));
}

/// Seeds the run and installs its namespaces.
pub(crate) fn begin(ctx: &Ctx<'_>, seed: &[u8]) -> Result<()> {
    let word = |from: usize| -> u64 {
        let bytes = seed
            .get(from..from + 8)
            .and_then(|bytes| bytes.try_into().ok())
            .unwrap_or([7; 8]);
        u64::from_le_bytes(bytes)
    };
    // The generator stands still when both words are zero.
    RANDOM.set([word(0), word(8) | 1]);
    BEGAN.set(wall::now_us());
    let visible = question(ctx, "{\"op\":\"ns.list\"}")?;
    if let Some(begin) = BEGIN.with_borrow(Clone::clone) {
        js::call(ctx, &begin.restore(ctx)?, &js::undefined(ctx), &[visible])?;
    }
    Ok(())
}

fn entry(name: &str) -> Result<usize> {
    TABLE
        .iter()
        .position(|(known, ..)| *known == name)
        .ok_or(Error::Unknown)
}

fn object_arg<'js>(of: &Invocation<'js>, index: usize) -> Result<Object<'js>> {
    of.arg(index)
        .into_object()
        .ok_or_else(|| errors::throw(&of.ctx, "TypeError", "an object is needed"))
}

fn nothing<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    Ok(js::undefined(&of.ctx))
}

// ---- asking -----------------------------------------------------------------------------------------------------

/// Asks the host; its refusal is thrown.
fn question<'js>(ctx: &Ctx<'js>, question: &str) -> Result<Value<'js>> {
    match wall::query(question) {
        Ok(answer) => decode::parse(ctx, &answer),
        Err(thrown) => {
            let error = calls::host_error(ctx, &thrown, &errors::site(ctx)?)?;
            Err(ctx.throw(error))
        }
    }
}

fn ask<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    question(&of.ctx, &encode::json(&of.ctx, &of.arg(0), Purpose::Argument)?)
}

/// Asks what the function in the argument describes, and answers with a promise.
fn later<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let deferred = calls::Deferred::new(&of.ctx)?;
    let answer = js::call(&of.ctx, &of.arg(0), &js::undefined(&of.ctx), &[])
        .and_then(|asked| encode::json(&of.ctx, &asked, Purpose::Argument))
        .and_then(|asked| question(&of.ctx, &asked));
    deferred.settle(&of.ctx, answer)
}

// ---- requests ---------------------------------------------------------------------------------------------------

fn call<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    calls::tool(&of.ctx, &js::text(&of.arg(0))?, &of.arg(1), &of.arg(2))
}

fn convenience<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    js::native(
        &of.ctx,
        &js::text(&of.arg(1))?,
        1,
        entry("convenienceCall")?,
        &of.arg(0),
    )
}

fn convenience_call<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    calls::tool(&of.ctx, "callValue", &of.data, &of.arg(0))
}

fn member<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let path = encode::json(&of.ctx, &of.arg(0), Purpose::Argument)?;
    let name = js::text(&of.arg(1))?;
    js::native(
        &of.ctx,
        &name,
        1,
        entry("memberCall")?,
        &js::string(&of.ctx, &path)?,
    )
}

fn member_call<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    calls::namespace(&of.ctx, &js::text(&of.data)?, &of.args)
}

fn yield_control<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    calls::yield_control(&of.ctx, &of.arg(0))
}

fn set_timeout<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let callback = of.arg(0);
    if !callback.is_function() {
        let message = format!(
            "setTimeout(callback, delay): the callback must be a function, got {}",
            calls::kind(&callback)
        );
        return Err(errors::throw(&of.ctx, "TypeError", &message));
    }
    let delay = number(&of.ctx, &of.arg(1))?;
    let args = js::array(&of.ctx)?;
    for (index, arg) in of.args.iter().skip(2).enumerate() {
        js::define_at(&args, index as u32, arg)?;
    }
    calls::set_timer(
        &of.ctx,
        callback,
        if delay > 0.0 {
            delay.min(f64::from(i32::MAX))
        } else {
            0.0
        },
        args.into_value(),
    )
}

fn clear_timeout<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    if let Some(id) = of.arg(0).as_number()
        && id >= 1.0
    {
        calls::clear_timer(id as u32);
    }
    nothing(of)
}

fn number<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<f64> {
    let mut number = 0.0;
    // SAFETY: the number is written before the status is looked at.
    let status = unsafe { qjs::JS_ToFloat64(ctx.as_raw().as_ptr(), &raw mut number, value.as_raw()) };
    if status < 0 {
        Err(Error::Exception)
    } else {
        Ok(number)
    }
}

fn queue_microtask<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let callback = of.arg(0);
    let Some(callback) = callback.as_function() else {
        let message = "queueMicrotask(callback): the callback must be a function";
        return Err(errors::throw(&of.ctx, "TypeError", message));
    };
    callback.defer(())?;
    nothing(of)
}

// ---- output -----------------------------------------------------------------------------------------------------

fn text_output<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let value = of.arg(0);
    let text = if !value.is_string() {
        encode::json(&of.ctx, &value, Purpose::Text)?
    } else {
        let units = js::units(&value)?;
        if units > budget::most() {
            let head = js::head(&value, budget::output_bytes())?;
            budget::overflow(&head, units - head.encode_utf16().count());
        }
        js::text(&value)?
    };
    wall::output(Kind::Text, &text);
    nothing(of)
}

fn json_output<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    wall::output(Kind::Json, &encode::json(&of.ctx, &of.arg(0), Purpose::Value)?);
    nothing(of)
}

/// A method of `console`.
fn print<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    js::native(
        &of.ctx,
        &js::text(&of.arg(0))?,
        0,
        entry("printCall")?,
        &js::undefined(&of.ctx),
    )
}

fn print_call<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    wall::output(Kind::Text, &inspect::line(&of.ctx, &of.args));
    nothing(of)
}

// ---- objects ----------------------------------------------------------------------------------------------------

fn append<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let list = object_arg(of, 0)?;
    js::define_at(&list, js::length(&list)?, &of.arg(1))?;
    nothing(of)
}

/// Defines an own property that cannot be changed; the last argument says whether it is enumerable.
fn define<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let object = object_arg(of, 0)?;
    let flags = if of.arg(3).as_bool() == Some(true) {
        js::READ_ONLY
    } else {
        js::HIDDEN
    };
    js::define_value(&object, &of.arg(1), &of.arg(2), flags)?;
    nothing(of)
}

fn define_built_in<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    js::define_value(&object_arg(of, 0)?, &of.arg(1), &of.arg(2), js::BUILT_IN)?;
    nothing(of)
}

fn define_getter<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    js::define_getter(
        &object_arg(of, 0)?,
        &js::text(&of.arg(1))?,
        &of.arg(2),
        js::READ_ONLY,
    )?;
    nothing(of)
}

fn freeze<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    js::freeze(&object_arg(of, 0)?)?;
    Ok(of.arg(0))
}

/// Freezes a value that came out of JSON text, with everything in it.
fn freeze_deep<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let mut rest: Vec<Object<'js>> = of.arg(0).into_object().into_iter().collect();
    while let Some(object) = rest.pop() {
        js::freeze(&object)?;
        for key in js::keys(&object)? {
            rest.extend(object.get::<_, Value<'js>>(key)?.into_object());
        }
    }
    Ok(of.arg(0))
}

fn keys<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let list = js::array(&of.ctx)?;
    for (index, key) in js::keys(&object_arg(of, 0)?)?.into_iter().enumerate() {
        js::define_at(&list, index as u32, &key.to_value()?)?;
    }
    Ok(list.into_value())
}

/// Whether a value is one of the functions the engine itself settles a promise with.
fn is_resolver<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let value = of.arg(0);
    let is = value.is_function() && js::class(&value) == intrinsics::classes().resolver;
    Ok(Value::new_bool(of.ctx.clone(), is))
}

fn structured_clone<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    clone::deep(&of.ctx, &of.arg(0))
}

// ---- time and chance --------------------------------------------------------------------------------------------

fn now<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let passed = BEGAN.with_borrow(|began| wall::now_us() - began);
    Ok(Value::new_number(of.ctx.clone(), passed / 1000.0))
}

/// The next 64 random bits (xorshift128+). Good enough for sampling and ids, not for keys.
fn bits() -> u64 {
    RANDOM.with_borrow_mut(|[first, second]| {
        let (mut a, b) = (*first, *second);
        let sum = a.wrapping_add(b);
        a ^= a << 23;
        *first = b;
        *second = a ^ b ^ (a >> 18) ^ (b >> 5);
        sum
    })
}

fn random<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    Ok(Value::new_number(
        of.ctx.clone(),
        (bits() >> 11) as f64 / (1_u64 << 53) as f64,
    ))
}

fn random_uuid<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let bits = (u128::from(bits()) << 64) | u128::from(bits());
    // Version 4, variant 1.
    let bits = (bits & !(0xF << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    let mut uuid = String::new();
    let mut from = 0;
    for width in [8, 4, 4, 4, 12] {
        if from > 0 {
            uuid.push('-');
        }
        uuid.push_str(hex.get(from..from + width).unwrap_or_default());
        from += width;
    }
    js::string(&of.ctx, &uuid)
}

fn get_random_values<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    /// The limit of the Web's function of this name.
    const MAX_RANDOM_BYTES: usize = 65_536;
    let target = of.arg(0);
    let Some(content) = bytes::storage(&of.ctx, &target)?.filter(|_| bytes::is_integers(&target)) else {
        return Err(errors::throw(
            &of.ctx,
            "TypeError",
            "getRandomValues(array): an array of integers is needed",
        ));
    };
    if content.len() > MAX_RANDOM_BYTES {
        let message = format!(
            "getRandomValues(array): {} bytes, more than the limit of {MAX_RANDOM_BYTES}",
            content.len()
        );
        return Err(errors::throw(&of.ctx, "RangeError", &message));
    }
    let random: Vec<u8> = core::iter::repeat_with(|| bits().to_le_bytes())
        .flatten()
        .take(content.len())
        .collect();
    bytes::fill(&of.ctx, &object_arg(of, 0)?, &random)?;
    Ok(target)
}

// ---- UTF-8 ------------------------------------------------------------------------------------------------------

fn encode_utf8<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    bytes::array(&of.ctx, js::text(&of.arg(0))?.as_bytes())
}

fn encode_into<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let source = js::text(&of.arg(0))?;
    let target = of.arg(1);
    let Some(room) = bytes::of(&of.ctx, &target)?.filter(|_| bytes::is_integers(&target)) else {
        return Err(errors::throw(
            &of.ctx,
            "TypeError",
            "encodeInto(source, array): a Uint8Array is needed",
        ));
    };
    let mut end = source.len().min(room.len());
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    let written = source.get(..end).unwrap_or_default();
    bytes::fill(&of.ctx, &object_arg(of, 1)?, written.as_bytes())?;
    let result = js::object(&of.ctx)?;
    let read = written.encode_utf16().count();
    js::define(
        &result,
        "read",
        &Value::new_number(of.ctx.clone(), read as f64),
        js::PLAIN,
    )?;
    js::define(
        &result,
        "written",
        &Value::new_number(of.ctx.clone(), end as f64),
        js::PLAIN,
    )?;
    Ok(result.into_value())
}

/// The labels under which the encoding standard knows UTF-8.
fn is_utf8_label<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let label = js::text(&of.arg(0))?.trim().to_ascii_lowercase();
    let known = [
        "unicode-1-1-utf-8",
        "unicode11utf8",
        "unicode20utf8",
        "utf-8",
        "utf8",
        "x-unicode20utf8",
    ];
    Ok(Value::new_bool(of.ctx.clone(), known.contains(&label.as_str())))
}

/// Decodes `input` after `rest`: `{ text, rest }`, where `rest` is what a next chunk may complete.
fn decode_utf8<'js>(of: &Invocation<'js>) -> Result<Value<'js>> {
    let flag = |index: usize| of.arg(index).as_bool() == Some(true);
    let (fatal, stream, strip_mark) = (flag(2), flag(3), flag(4));
    let mut content = bytes::storage(&of.ctx, &of.arg(1))?.unwrap_or_default();
    let input = of.arg(0);
    if !input.is_undefined() {
        let Some(more) = bytes::storage(&of.ctx, &input)? else {
            let message = format!(
                "decode(input): a buffer or a view of one is needed, got {}",
                calls::kind(&input)
            );
            return Err(errors::throw(&of.ctx, "TypeError", &message));
        };
        content.extend(more);
    }
    let keep = if stream { text::unfinished(&content) } else { 0 };
    let rest = content.split_off(content.len() - keep);
    let mut decoded = if fatal {
        String::from_utf8(content).map_err(|_| {
            errors::throw(
                &of.ctx,
                "TypeError",
                "decode(input): the bytes are not valid utf-8",
            )
        })?
    } else {
        String::from_utf8_lossy(&content).into_owned()
    };
    if strip_mark && decoded.starts_with('\u{FEFF}') {
        decoded.drain(..'\u{FEFF}'.len_utf8());
    }
    let result = js::bare(&of.ctx)?;
    js::define(&result, "text", &js::string(&of.ctx, &decoded)?, js::PLAIN)?;
    js::define(&result, "rest", &bytes::array(&of.ctx, &rest)?, js::PLAIN)?;
    Ok(result.into_value())
}
