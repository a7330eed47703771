//! Room to recurse, and a stop for panics: the parser's recursion follows the program, and its bugs are not ours.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::limits::{DEPTH_ON_CALLERS_STACK, STACK_PER_TOKEN};
use crate::refusal::Refusal;

/// What a check needs besides its recursion.
const BASE_STACK: usize = 1024 * 1024;

/// Runs `check` with stack for `depth` levels of recursion: on this thread when that is little, as for most programs,
/// otherwise on one of its own, whose stack is virtual memory until it is used.
pub(crate) fn with_room_for<T: Send>(
    depth: u32,
    check: impl FnOnce() -> Result<T, Refusal> + Send,
) -> Result<T, Refusal> {
    // The check shares nothing with anyone, so nothing half-done can be seen afterwards.
    let check = || catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| Err(failed(&*panic)));
    if depth <= DEPTH_ON_CALLERS_STACK {
        return check();
    }
    let size = BASE_STACK + depth as usize * STACK_PER_TOKEN;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("codecell-check".to_owned())
            .stack_size(size)
            .spawn_scoped(scope, check)
            .map_err(|error| Refusal::Unchecked {
                reason: error.to_string(),
            })?;
        thread.join().unwrap_or_else(|panic| Err(failed(&*panic)))
    })
}

fn failed(panic: &(dyn Any + Send)) -> Refusal {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Refusal::Unchecked {
        reason: format!("the parser failed ({})", text.unwrap_or("no reason given")),
    }
}
