//! The engine of this VM: one runtime, one context, made at build time and never torn down.

use std::cell::RefCell;

use rquickjs::{Context, Ctx, Result, Runtime, Value, qjs};

use crate::errors::{self, Unhandled};
use crate::{intrinsics, js, natives};

/// What QuickJS allows itself of the shadow stack.
///
/// The linker gives 1 MiB of it (`-zstack-size`); the rest is for native code that the check does not see.
const MAX_STACK_BYTES: usize = 768 * 1024;

thread_local! {
    static ENGINE: RefCell<Option<(Runtime, Context)>> = const { RefCell::new(None) };
}

/// Boots the engine and installs the globals.
#[expect(
    clippy::panic,
    reason = "runs at build time only: a failure must stop the build"
)]
pub(crate) fn boot() {
    let outcome = Runtime::new().and_then(|runtime| {
        runtime.set_max_stack_size(MAX_STACK_BYTES);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, handled| {
            Unhandled::track(&ctx, &promise, reason, handled);
        })));
        let context = Context::full(&runtime)?;
        let installed = context.with(|ctx| install(&ctx).map_err(|_| errors::pending_json(&ctx)));
        ENGINE.set(Some((runtime, context)));
        Ok(installed)
    });
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(thrown)) => panic!("the prelude failed: {thrown}"),
        Err(error) => panic!("the engine failed to start: {error}"),
    }
}

fn install(ctx: &Ctx<'_>) -> Result<()> {
    let table = evaluate(ctx, include_str!("prelude/intrinsics.js"))?;
    intrinsics::capture(ctx, table.into_object().ok_or(rquickjs::Error::Unknown)?)?;
    let host = natives::table(ctx)?;
    let host = host.into_value();
    let run = |source: &str| -> Result<Value<'_>> {
        js::call(
            ctx,
            &evaluate(ctx, source)?,
            &js::undefined(ctx),
            core::slice::from_ref(&host),
        )
    };
    run(include_str!("prelude/language.js"))?;
    run(include_str!("prelude/encoding.js"))?;
    natives::on_begin(ctx, run(include_str!("prelude/catalog.js"))?);
    ctx.run_gc();
    Ok(())
}

/// Runs `body` with the context. Only called after [`boot`].
pub(crate) fn with<R>(body: impl FnOnce(&Ctx<'_>) -> R) -> R
where
    R: Default,
{
    let context = ENGINE.with_borrow(|engine| engine.as_ref().map(|(_, context)| context.clone()));
    context
        .map(|context| context.with(|ctx| body(&ctx)))
        .unwrap_or_default()
}

/// Evaluates a file of the prelude.
fn evaluate<'js>(ctx: &Ctx<'js>, source: &str) -> Result<Value<'js>> {
    script(ctx, source, c"codecell", 1)
}

/// Evaluates a sloppy script that begins at `first_line` of the file it is reported as.
pub(crate) fn script<'js>(
    ctx: &Ctx<'js>,
    source: &str,
    file: &core::ffi::CStr,
    first_line: i32,
) -> Result<Value<'js>> {
    let mut bytes = Vec::with_capacity(source.len() + 1);
    bytes.extend_from_slice(source.as_bytes());
    // The engine wants a terminator beside the length; a NUL inside the text stays part of it.
    bytes.push(0);
    let mut options = qjs::JSEvalOptions {
        version: 1,
        eval_flags: qjs::JS_EVAL_TYPE_GLOBAL as _,
        filename: file.as_ptr(),
        line_num: first_line,
    };
    // SAFETY: text, file name and options outlive the call; the result is owned.
    unsafe {
        js::own(
            ctx,
            qjs::JS_Eval2(
                ctx.as_raw().as_ptr(),
                bytes.as_ptr().cast(),
                source.len() as _,
                &raw mut options,
            ),
        )
    }
}

/// Runs every queued job, and those that these queue, until none is left. The host's clock bounds this.
pub(crate) fn pump(ctx: &Ctx<'_>) {
    let raw = ctx.as_raw().as_ptr();
    loop {
        let mut job_context = core::ptr::null_mut();
        // SAFETY: the runtime is alive; there is one context in it.
        let status = unsafe { qjs::JS_ExecutePendingJob(qjs::JS_GetRuntime(raw), &raw mut job_context) };
        match status {
            0 => return,
            1.. => {}
            _ => Unhandled::uncaught(ctx),
        }
    }
}
