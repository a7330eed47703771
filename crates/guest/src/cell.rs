//! The one program this VM runs: its start, its answers, its end.

use std::cell::RefCell;

use rquickjs::{Ctx, Error, Persistent, Result, Value, qjs};

use crate::encode::{self, Purpose};
use crate::errors::{self, Unhandled};
use crate::{calls, decode, js, natives, vm};

thread_local! {
    /// The promise of the running program; nothing once its end was told.
    static RUNNING: RefCell<Option<Persistent<Value<'static>>>> = const { RefCell::new(None) };
}

/// Starts the program and answers with a report.
pub(crate) fn eval(seed: &[u8], code: &[u8]) -> String {
    let code = String::from_utf8_lossy(code);
    vm::with(|ctx| match start(ctx, seed, &code) {
        Ok(promise) => {
            RUNNING.set(Some(Persistent::save(ctx, promise)));
            vm::pump(ctx);
            report(ctx)
        }
        Err(_) => failed(&errors::pending_json(ctx)),
    })
}

fn start<'js>(ctx: &Ctx<'js>, seed: &[u8], code: &str) -> Result<Value<'js>> {
    natives::begin(ctx, seed)?;
    // The wrapper takes lines -1 and 0, so that positions are those of the program. (The engine reads a first line
    // of 0 as "not given".)
    let source = format!("(async function () {{\n\n{code}\n}})");
    let program = vm::script(ctx, &source, errors::CELL, -1)?;
    js::call(ctx, &program, &js::undefined(ctx), &[])
}

/// Delivers answers in order, letting the program run after each, and answers with a report.
pub(crate) fn settle(replies: &str) -> String {
    vm::with(|ctx| match deliver_all(ctx, replies) {
        Ok(()) => report(ctx),
        Err(_) => failed(&errors::pending_json(ctx)),
    })
}

fn deliver_all(ctx: &Ctx<'_>, replies: &str) -> Result<()> {
    let replies = decode::parse(ctx, replies)?;
    let replies = replies.as_object().ok_or(Error::Unknown)?;
    for index in 0..js::length(replies)? {
        let reply = js::at(replies, index)?;
        calls::deliver(ctx, reply.as_object().ok_or(Error::Unknown)?)?;
        vm::pump(ctx);
    }
    Ok(())
}

/// What became of the program.
fn report(ctx: &Ctx<'_>) -> String {
    let Some(running) = RUNNING.with_borrow(Clone::clone) else {
        return String::from("{\"state\":\"idle\"}");
    };
    let Ok(promise) = running.restore(ctx) else {
        return String::from("{\"state\":\"idle\"}");
    };
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the promise is alive; its result is owned.
    let (state, result) = unsafe {
        (
            qjs::JS_PromiseState(raw, promise.as_raw()),
            js::own(ctx, qjs::JS_PromiseResult(raw, promise.as_raw())),
        )
    };
    let Ok(result) = result else {
        return String::from("{\"state\":\"pending\"}");
    };
    match state {
        qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED => {
            RUNNING.set(None);
            let text = match encode::json(ctx, &result, Purpose::Value) {
                Ok(value) => format!("{{\"state\":\"completed\",\"value\":{value}}}"),
                Err(_) => failed(&errors::pending_json(ctx)),
            };
            // A `toJSON` or a getter of the value may have queued more.
            vm::pump(ctx);
            text
        }
        qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED => {
            RUNNING.set(None);
            Unhandled::forget(ctx, &promise);
            failed(&errors::thrown_json(ctx, &result))
        }
        _ => String::from("{\"state\":\"pending\"}"),
    }
}

fn failed(error: &str) -> String {
    format!("{{\"state\":\"failed\",\"error\":{error}}}")
}
