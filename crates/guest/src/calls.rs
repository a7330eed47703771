//! Requests that are answered later, and the promises and timers that wait for them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use rquickjs::{Ctx, Error, Object, Persistent, Result, Value};

use crate::encode::{self, Purpose};
use crate::errors::{self, Site, Unhandled};
use crate::{js, text, wall};

/// Longest text a program may give as reason of a yield or as id of a tool.
const MAX_TEXT_BYTES: usize = 4 * 1024;

/// Who waits for an answer.
enum Waiting {
    Promise {
        resolve: Persistent<Value<'static>>,
        reject: Persistent<Value<'static>>,
        site: Site,
    },
    Timer {
        callback: Persistent<Value<'static>>,
        args: Persistent<Value<'static>>,
    },
}

#[derive(Default)]
struct Calls {
    last: u32,
    waiting: BTreeMap<u32, Waiting>,
}

thread_local! {
    static CALLS: RefCell<Calls> = RefCell::default();
}

/// A promise with the functions that settle it, and the place that asked for it.
pub(crate) struct Deferred<'js> {
    promise: Value<'js>,
    resolve: Value<'js>,
    reject: Value<'js>,
    site: Site,
}

impl<'js> Deferred<'js> {
    /// A pending promise of the realm, made without the guest's `Promise`.
    pub(crate) fn new(ctx: &Ctx<'js>) -> Result<Self> {
        let (promise, resolve, reject) = ctx.promise()?;
        Ok(Self {
            promise: promise.into_value(),
            resolve: resolve.into_value(),
            reject: reject.into_value(),
            site: errors::site(ctx)?,
        })
    }

    /// Settles the promise by what `work` answers and hands it out.
    pub(crate) fn settle(self, ctx: &Ctx<'js>, work: Result<Value<'js>>) -> Result<Value<'js>> {
        let (function, value) = match work {
            Ok(value) => (&self.resolve, value),
            Err(_) => (&self.reject, ctx.catch()),
        };
        js::call(ctx, function, &js::undefined(ctx), &[value])?;
        Ok(self.promise)
    }

    /// Rejects the promise with what the host said.
    fn refuse(self, ctx: &Ctx<'js>, thrown: &str) -> Result<Value<'js>> {
        let error = host_error(ctx, thrown, &self.site)?;
        js::call(ctx, &self.reject, &js::undefined(ctx), &[error])?;
        Ok(self.promise)
    }
}

/// The error described by the host's text.
pub(crate) fn host_error<'js>(ctx: &Ctx<'js>, thrown: &str, site: &Site) -> Result<Value<'js>> {
    let thrown = crate::decode::parse(ctx, thrown)?;
    errors::from_host(ctx, thrown.as_object().ok_or(Error::Unknown)?, site)
}

/// Makes a request and returns the promise of its answer. A request that cannot be made is a rejection, as of an
/// async function.
pub(crate) fn request<'js>(
    ctx: &Ctx<'js>,
    describe: impl FnOnce(&mut String) -> Result<()>,
) -> Result<Value<'js>> {
    let deferred = Deferred::new(ctx)?;
    let mut body = String::new();
    if let Err(error) = describe(&mut body) {
        return deferred.settle(ctx, Err(error));
    }
    match send(&body, &deferred.site) {
        Ok(id) => {
            let waiting = Waiting::Promise {
                resolve: Persistent::save(ctx, deferred.resolve),
                reject: Persistent::save(ctx, deferred.reject),
                site: deferred.site,
            };
            CALLS.with_borrow_mut(|calls| calls.waiting.insert(id, waiting));
            Ok(deferred.promise)
        }
        Err(thrown) => deferred.refuse(ctx, &thrown),
    }
}

/// Sends a request under a fresh id.
fn send(body: &str, site: &Site) -> core::result::Result<u32, String> {
    let id = CALLS.with_borrow_mut(|calls| {
        calls.last += 1;
        calls.last
    });
    let mut out = format!("{{\"id\":{id},{body}");
    if let Some((line, column)) = site.position {
        let _ = write!(out, ",\"line\":{line},\"column\":{column}");
    }
    out.push('}');
    wall::call(&out).map(|()| id)
}

/// `tools.call` and `tools.callValue`: which of the two is in `method`.
pub(crate) fn tool<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    target: &Value<'js>,
    input: &Value<'js>,
) -> Result<Value<'js>> {
    request(ctx, |body| {
        if !target.is_string() {
            let message = format!(
                "tools.{method}(id, input): the id must be a string, got {}",
                kind(target)
            );
            return Err(errors::throw(ctx, "TypeError", &message));
        }
        let _ = write!(body, "\"method\":\"{method}\",\"target\":");
        text::push_json(body, &text::begin(target, MAX_TEXT_BYTES)?);
        if !input.is_undefined() {
            body.push_str(",\"args\":");
            body.push_str(&encode::json(ctx, input, Purpose::Argument)?);
        }
        Ok(())
    })
}

/// A function of a namespace: `path` is the JSON text of its segments.
pub(crate) fn namespace<'js>(ctx: &Ctx<'js>, path: &str, args: &[Value<'js>]) -> Result<Value<'js>> {
    request(ctx, |body| {
        let _ = write!(body, "\"method\":\"namespace\",\"path\":{path},\"args\":[");
        for (index, value) in args.iter().enumerate() {
            if index > 0 {
                body.push(',');
            }
            body.push_str(&encode::json(ctx, value, Purpose::Argument)?);
            if body.len() > encode::MAX_ARGUMENT_BYTES {
                return Err(encode::too_large(ctx, &format!("at least {}", body.len())));
            }
        }
        body.push(']');
        Ok(())
    })
}

/// `yield_control`.
pub(crate) fn yield_control<'js>(ctx: &Ctx<'js>, reason: &Value<'js>) -> Result<Value<'js>> {
    request(ctx, |body| {
        body.push_str("\"method\":\"yield\"");
        if !reason.is_undefined() && !reason.is_null() {
            let reason = if reason.is_string() {
                text::begin(reason, MAX_TEXT_BYTES)?
            } else {
                text::bounded(encode::json(ctx, reason, Purpose::Detail)?, MAX_TEXT_BYTES)
            };
            body.push_str(",\"reason\":");
            text::push_json(body, &reason);
        }
        Ok(())
    })
}

/// `setTimeout`: the timer's number.
pub(crate) fn set_timer<'js>(
    ctx: &Ctx<'js>,
    callback: Value<'js>,
    milliseconds: f64,
    args: Value<'js>,
) -> Result<Value<'js>> {
    let site = errors::site(ctx)?;
    match send(&format!("\"method\":\"timer\",\"ms\":{milliseconds}"), &site) {
        Ok(id) => {
            let waiting = Waiting::Timer {
                callback: Persistent::save(ctx, callback),
                args: Persistent::save(ctx, args),
            };
            CALLS.with_borrow_mut(|calls| calls.waiting.insert(id, waiting));
            Ok(Value::new_number(ctx.clone(), f64::from(id)))
        }
        Err(thrown) => Err(ctx.throw(host_error(ctx, &thrown, &site)?)),
    }
}

/// `clearTimeout`: only a timer can be taken back this way, never a call.
pub(crate) fn clear_timer(id: u32) {
    let timer = CALLS.with_borrow_mut(|calls| match calls.waiting.get(&id) {
        Some(Waiting::Timer { .. }) => calls.waiting.remove(&id),
        _ => None,
    });
    if timer.is_some() {
        wall::withdraw(id);
    }
}

/// Delivers one answer. An answer nobody waits for is dropped.
pub(crate) fn deliver<'js>(ctx: &Ctx<'js>, reply: &Object<'js>) -> Result<()> {
    let id = js::own_member(reply, c"id")?.as_number().unwrap_or_default() as u32;
    let Some(waiting) = CALLS.with_borrow_mut(|calls| calls.waiting.remove(&id)) else {
        return Ok(());
    };
    let failure = js::own_member(reply, c"error")?;
    let nothing = js::undefined(ctx);
    match waiting {
        Waiting::Promise {
            resolve,
            reject,
            site,
        } => {
            let (function, value) = match failure.as_object() {
                Some(failure) => (reject.restore(ctx)?, errors::from_host(ctx, failure, &site)?),
                None => (resolve.restore(ctx)?, js::own_member(reply, c"ok")?),
            };
            js::call(ctx, &function, &nothing, &[value])?;
        }
        Waiting::Timer { callback, args } => {
            let args = args.restore(ctx)?;
            let mut list = Vec::new();
            if let Some(args) = args.as_object() {
                for index in 0..js::length(args)? {
                    list.push(js::at(args, index)?);
                }
            }
            if js::call(ctx, &callback.restore(ctx)?, &nothing, &list).is_err() {
                Unhandled::uncaught(ctx);
            }
        }
    }
    Ok(())
}

/// What a value is, for messages.
pub(crate) fn kind(value: &Value<'_>) -> &'static str {
    match value {
        _ if value.is_undefined() => "undefined",
        _ if value.is_null() => "null",
        _ if value.is_bool() => "boolean",
        _ if value.is_number() => "number",
        _ if value.is_string() => "string",
        _ if value.is_big_int() => "bigint",
        _ if value.is_symbol() => "symbol",
        _ if value.is_function() => "function",
        _ if value.is_array() => "array",
        _ => "object",
    }
}
