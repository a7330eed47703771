//! Errors: made for the guest, read from the guest, and the ones nobody handled.

use std::cell::RefCell;
use std::fmt::Write;

use rquickjs::{Ctx, Error, Object, Persistent, Result, Value, qjs};

use crate::encode::{self, Purpose};
use crate::{intrinsics, js, text};

/// File name of the evaluated cell: frames of other files are not the guest's text.
pub(crate) const CELL: &core::ffi::CStr = c"cell";

/// Longest error message that crosses. The result's own budget is smaller as a rule.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;
/// Longest name of an error or a function that crosses.
pub(crate) const MAX_NAME_BYTES: usize = 256;
/// Most unhandled rejections that are remembered, so that a flood of them does not fill the memory.
const MAX_UNHANDLED: usize = 64;

/// A place in the cell's text.
#[derive(Debug)]
struct Frame {
    function: String,
    line: u32,
    column: u32,
}

/// The guest's place that called into us.
#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    /// The lines of the stack that belong to the cell, as `stack` shows them.
    pub(crate) stack: String,
    /// The innermost line and column.
    pub(crate) position: Option<(u32, u32)>,
}

/// Where the guest is right now.
pub(crate) fn site(ctx: &Ctx<'_>) -> Result<Site> {
    // SAFETY: the result is owned.
    let probe = unsafe { js::own(ctx, qjs::JS_NewError(ctx.as_raw().as_ptr()))? };
    let stack = cell_lines(&own_stack(ctx, &probe));
    let position = stack.lines().next().and_then(place).map(|place| place.position);
    Ok(Site { stack, position })
}

/// The stack the engine recorded, whatever properties the guest has put on the error.
fn own_stack<'js>(ctx: &Ctx<'js>, error: &Value<'js>) -> String {
    let stack = intrinsics::method(ctx, "stackOf", error);
    match stack {
        Ok(stack) if stack.is_string() => js::text(&stack).unwrap_or_default(),
        Ok(_) => String::new(),
        Err(_) => {
            drop(ctx.catch());
            String::new()
        }
    }
}

/// The lines of an error's stack that belong to the cell.
pub(crate) fn shown_stack<'js>(ctx: &Ctx<'js>, error: &Value<'js>) -> String {
    let recorded = cell_lines(&own_stack(ctx, error));
    if !recorded.is_empty() {
        return recorded;
    }
    let shown = error
        .as_object()
        .and_then(|error| quiet(ctx, error.get::<_, Value<'js>>("stack")));
    let shown = shown
        .filter(Value::is_string)
        .and_then(|stack| quiet(ctx, js::text(&stack)));
    shown.map(|stack| cell_lines(&stack)).unwrap_or_default()
}

fn cell_lines(stack: &str) -> String {
    let mut lines = String::with_capacity(stack.len());
    for line in stack.lines().filter(|line| place(line).is_some()) {
        lines.push_str(line);
        lines.push('\n');
    }
    lines
}

fn frames(stack: &str) -> Vec<Frame> {
    let places = stack.lines().filter_map(place);
    let frames = places.map(|place| Frame {
        function: text::bounded(place.function.to_owned(), MAX_NAME_BYTES),
        line: place.position.0,
        column: place.position.1,
    });
    frames.collect()
}

/// A line of a stack that is the cell's.
struct Place<'s> {
    function: &'s str,
    position: (u32, u32),
}

/// Reads `    at name (cell:3:5)` or `    at cell:3:5`. Every call of a tool does, so nothing is copied.
fn place(line: &str) -> Option<Place<'_>> {
    let line = line.trim_start().strip_prefix("at ")?;
    let (function, place) = match line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")) {
        Some((function, place)) => (function, place),
        None => ("", line),
    };
    let (rest, column) = place.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    if file.as_bytes() != CELL.to_bytes() {
        return None;
    }
    Some(Place {
        function: if function == "<anonymous>" { "" } else { function },
        position: (line.parse().ok()?, column.parse().ok()?),
    })
}

/// Throws a fresh error whose stack is the guest's.
pub(crate) fn throw(ctx: &Ctx<'_>, name: &str, message: &str) -> Error {
    match site(ctx).and_then(|site| make(ctx, name, message, &site)) {
        Ok(error) => ctx.throw(error),
        Err(error) => error,
    }
}

/// A fresh error of the realm. A name the language does not know becomes a property of a plain `Error`.
pub(crate) fn make<'js>(ctx: &Ctx<'js>, name: &str, message: &str, site: &Site) -> Result<Value<'js>> {
    let constructors: Object<'_> = intrinsics::get(ctx, "errors")?
        .into_object()
        .ok_or(Error::Unknown)?;
    let known: Value<'_> = constructors.get(name)?;
    let constructor = if known.is_function() {
        known.clone()
    } else {
        constructors.get("Error")?
    };
    let error = js::construct(ctx, &constructor, &[js::string(ctx, message)?])?;
    let object = error.as_object().ok_or(Error::Unknown)?;
    if !known.is_function() && !name.is_empty() {
        js::define(object, "name", &js::string(ctx, name)?, js::BUILT_IN)?;
    }
    js::define(object, "stack", &js::string(ctx, &site.stack)?, js::BUILT_IN)?;
    Ok(error)
}

/// Whether the language has a constructor of this name.
pub(crate) fn is_standard(ctx: &Ctx<'_>, name: &str) -> Result<bool> {
    let constructors: Object<'_> = intrinsics::get(ctx, "errors")?
        .into_object()
        .ok_or(Error::Unknown)?;
    Ok(constructors.get::<_, Value<'_>>(name)?.is_function())
}

/// A fresh error made from what the host says about a failure.
pub(crate) fn from_host<'js>(ctx: &Ctx<'js>, thrown: &Object<'js>, site: &Site) -> Result<Value<'js>> {
    let text = |key| {
        let member = js::own_member(thrown, key)?;
        if member.is_string() {
            js::text(&member)
        } else {
            Ok(String::new())
        }
    };
    let (name, message) = (text(c"name")?, text(c"message")?);
    let error = make(ctx, &name, &message, site)?;
    let object = error.as_object().ok_or(Error::Unknown)?;
    for (key, value) in [
        ("code", js::own_member(thrown, c"code")?),
        ("details", js::own_member(thrown, c"details")?),
    ] {
        if !value.is_undefined() && !value.is_null() {
            js::define(object, key, &value, js::PLAIN)?;
        }
    }
    Ok(error)
}

/// `name` or `message` of an error, if it is a string.
pub(crate) fn part<'js>(error: &Object<'js>, key: &str) -> Result<Option<Value<'js>>> {
    let value: Value<'js> = error.get(key)?;
    Ok(value.is_string().then_some(value))
}

/// `name` and `message` as an error shows them.
pub(crate) fn name_and_message(error: &Object<'_>) -> Result<(String, String)> {
    let read = |key: &str, limit: usize| -> Result<Option<String>> {
        let part = part(error, key)?;
        part.map(|part| text::begin(&part, limit)).transpose()
    };
    Ok((
        read("name", MAX_NAME_BYTES)?.unwrap_or_else(|| "Error".into()),
        read("message", MAX_MESSAGE_BYTES)?.unwrap_or_default(),
    ))
}

/// What is pending as an exception, as JSON for the host.
pub(crate) fn pending_json(ctx: &Ctx<'_>) -> String {
    let value = ctx.catch();
    thrown_json(ctx, &value)
}

/// Anything a program can throw, as JSON for the host. Never fails: what cannot be read is left out.
pub(crate) fn thrown_json<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    let mut name = String::from("Error");
    let mut out = String::new();
    let message;
    let error = value.as_object().filter(|object| {
        value.is_error() || quiet(ctx, object.get::<_, Value<'_>>("message")).is_some_and(|m| m.is_string())
    });
    if let Some(error) = error {
        let read = quiet(ctx, name_and_message(error));
        (name, message) = read.unwrap_or_else(|| (name, String::from("(unreadable message)")));
        for key in ["code", "details"] {
            push_extra(ctx, &mut out, error, key);
        }
        push_frames(&mut out, &frames(&shown_stack(ctx, value)));
    } else if value.is_string() {
        message = quiet(ctx, text::begin(value, MAX_MESSAGE_BYTES)).unwrap_or_default();
    } else if value.is_undefined() {
        message = "undefined".into();
    } else {
        message = quiet(ctx, encode::json(ctx, value, Purpose::Detail))
            .unwrap_or_else(|| String::from("(a value that has no JSON form)"));
    }
    let mut head = String::from("{\"name\":");
    text::push_json(&mut head, &name);
    head.push_str(",\"message\":");
    text::push_json(&mut head, &text::bounded(message, MAX_MESSAGE_BYTES));
    head.push_str(&out);
    head.push('}');
    head
}

fn push_extra<'js>(ctx: &Ctx<'js>, out: &mut String, error: &Object<'js>, key: &str) {
    let Some(value) = quiet(ctx, error.get::<_, Value<'js>>(key)) else {
        return;
    };
    if key == "code" {
        if value.is_string()
            && let Some(code) = quiet(ctx, text::begin(&value, MAX_NAME_BYTES))
        {
            out.push_str(",\"code\":");
            text::push_json(out, &code);
        }
    } else if !value.is_undefined()
        && let Some(details) = quiet(ctx, encode::json(ctx, &value, Purpose::Detail))
    {
        out.push_str(",\"details\":");
        out.push_str(&details);
    }
}

fn push_frames(out: &mut String, frames: &[Frame]) {
    for (index, frame) in frames.iter().enumerate() {
        out.push_str(if index == 0 { ",\"frames\":[" } else { "," });
        out.push_str("{\"function\":");
        text::push_json(out, &frame.function);
        let _ = write!(out, ",\"line\":{},\"column\":{}}}", frame.line, frame.column);
    }
    if !frames.is_empty() {
        out.push(']');
    }
}

/// The value, or nothing if reading it threw.
pub(crate) fn quiet<T>(ctx: &Ctx<'_>, result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(_) => {
            drop(ctx.catch());
            None
        }
    }
}

/// A rejection, or an exception of a callback, that nobody handled.
struct Rejection {
    /// The promise; none for an exception out of a timer or microtask.
    promise: Option<Persistent<Value<'static>>>,
    reason: Persistent<Value<'static>>,
}

thread_local! {
    static UNHANDLED: RefCell<Vec<Rejection>> = const { RefCell::new(Vec::new()) };
}

/// The list of rejections nobody handled.
pub(crate) struct Unhandled;

impl Unhandled {
    /// Notes that `promise` was rejected without a handler, or got one later.
    pub(crate) fn track<'js>(ctx: &Ctx<'js>, promise: &Value<'js>, reason: Value<'js>, handled: bool) {
        if handled {
            Self::forget(ctx, promise);
        } else {
            Self::add(Rejection {
                promise: Some(Persistent::save(ctx, promise.clone())),
                reason: Persistent::save(ctx, reason),
            });
        }
    }

    /// Notes the pending exception of a callback that the host, not the guest, called.
    pub(crate) fn uncaught(ctx: &Ctx<'_>) {
        Self::add(Rejection {
            promise: None,
            reason: Persistent::save(ctx, ctx.catch()),
        });
    }

    fn add(rejection: Rejection) {
        UNHANDLED.with_borrow_mut(|list| {
            if list.len() < MAX_UNHANDLED {
                list.push(rejection);
            }
        });
    }

    /// Takes `promise` off the list.
    pub(crate) fn forget<'js>(ctx: &Ctx<'js>, promise: &Value<'js>) {
        let found = UNHANDLED.with_borrow_mut(|list| {
            let index = list.iter().position(|rejection| {
                let held = rejection
                    .promise
                    .clone()
                    .and_then(|promise| promise.restore(ctx).ok());
                held.is_some_and(|held| held.as_raw() == promise.as_raw())
            })?;
            Some(list.remove(index))
        });
        drop(found);
    }

    /// The list as JSON for the host.
    pub(crate) fn report() -> String {
        crate::vm::with(|ctx| {
            let reasons: Vec<Persistent<Value<'static>>> =
                UNHANDLED.with_borrow(|list| list.iter().map(|rejection| rejection.reason.clone()).collect());
            let mut out = String::from("[");
            for (index, reason) in reasons.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                match reason.restore(ctx) {
                    Ok(reason) => out.push_str(&thrown_json(ctx, &reason)),
                    Err(_) => out.push_str("{}"),
                }
            }
            out.push(']');
            out
        })
    }
}
