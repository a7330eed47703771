//! The boundary in both directions: the imports the host provides and the exports it calls.

use core::cell::RefCell;

use crate::{budget, cell, errors::Unhandled, vm};

#[link(wasm_import_module = "codecell")]
unsafe extern "C" {
    /// Asks a question; the answer's length, or `-1 - length` of the error's text. [`take`] fetches either.
    #[link_name = "query"]
    fn import_query(at: *const u8, len: usize) -> i64;
    /// Makes a request; 0, or the length of the refusal's text.
    #[link_name = "call"]
    fn import_call(at: *const u8, len: usize) -> u32;
    /// Copies what the host has ready: an entry's input, or the text a `query` or `call` left behind.
    #[link_name = "take"]
    fn import_take(at: *mut u8);
    /// Takes a request back.
    #[link_name = "withdraw"]
    fn import_withdraw(id: u32);
    /// Appends output; the host ends this VM when its budget is spent.
    #[link_name = "output"]
    fn import_output(kind: u32, at: *const u8, len: usize);
    /// Reports output that cannot fit, with the head of it if it is a text, and ends this VM.
    #[link_name = "overflow"]
    fn import_overflow(at: *const u8, len: usize, more: usize) -> !;
}

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn __rquickjs_host_now_us() -> f64;
}

/// What kind of output is appended.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Plain text.
    Text = 0,
    /// One JSON value.
    Json = 1,
}

/// Asks the host and waits for the answer.
pub(crate) fn query(question: &str) -> Result<String, String> {
    // SAFETY: the host reads `len` bytes at `at` before it returns.
    let size = unsafe { import_query(question.as_ptr(), question.len()) };
    if size >= 0 {
        Ok(take_text(size as usize))
    } else {
        Err(take_text((-1 - size) as usize))
    }
}

/// Makes a request that is answered later.
pub(crate) fn call(request: &str) -> Result<(), String> {
    // SAFETY: the host reads `len` bytes at `at` before it returns.
    match unsafe { import_call(request.as_ptr(), request.len()) } {
        0 => Ok(()),
        size => Err(take_text(size as usize)),
    }
}

fn take(size: usize) -> Vec<u8> {
    let mut bytes = vec![0_u8; size];
    // SAFETY: the host writes exactly the `size` bytes it announced.
    unsafe { import_take(bytes.as_mut_ptr()) };
    bytes
}

fn take_text(size: usize) -> String {
    String::from_utf8(take(size)).unwrap_or_default()
}

/// Takes a request back.
pub(crate) fn withdraw(id: u32) {
    // SAFETY: a plain number crosses.
    unsafe { import_withdraw(id) }
}

/// Appends to the output.
pub(crate) fn output(kind: Kind, text: &str) {
    // SAFETY: the host reads `len` bytes at `at` before it returns.
    unsafe { import_output(kind as u32, text.as_ptr(), text.len()) }
}

/// Gives up on output that cannot fit: its head, or nothing, and how many bytes it has beyond that at least.
pub(crate) fn overflow(head: &str, more: usize) -> ! {
    // SAFETY: the host reads `len` bytes at `at`; it never comes back.
    unsafe { import_overflow(head.as_ptr(), head.len(), more) }
}

/// Microseconds since the epoch, as the host tells them.
pub(crate) fn now_us() -> f64 {
    // SAFETY: the import takes nothing and returns a number.
    unsafe { __rquickjs_host_now_us() }
}

thread_local! {
    /// What the last entry answered, kept until the next one begins.
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Boots the engine and runs the prelude. Called once, at build time.
#[unsafe(no_mangle)]
extern "C" fn boot() {
    vm::boot();
}

/// Starts a cell: 16 bytes of seed, 4 of its output budget, then its code.
#[unsafe(no_mangle)]
extern "C" fn eval(size: usize) -> u64 {
    enter(size, |input| {
        let (seed, rest) = input.split_at(input.len().min(16));
        let (bytes, code) = rest.split_at(rest.len().min(4));
        budget::begin(bytes.try_into().map_or(0, u32::from_le_bytes) as usize);
        cell::eval(seed, code)
    })
}

/// Delivers answers: a JSON array of replies.
#[unsafe(no_mangle)]
extern "C" fn settle(size: usize) -> u64 {
    enter(size, |input| {
        cell::settle(&String::from_utf8(input).unwrap_or_default())
    })
}

/// Lists the rejections nobody handled, as a JSON array.
#[unsafe(no_mangle)]
extern "C" fn unhandled(size: usize) -> u64 {
    enter(size, |_| Unhandled::report())
}

/// Fetches the input of an entry and keeps its answer for the host: the address in the upper half, the length in the
/// lower.
fn enter(size: usize, body: impl FnOnce(Vec<u8>) -> String) -> u64 {
    ANSWER.set(Vec::new());
    let text = body(take(size));
    ANSWER.with_borrow_mut(|answer| {
        *answer = text.into_bytes();
        ((answer.as_ptr() as u64) << 32) | answer.len() as u64
    })
}
