//! How much may leave this VM as one value or one text.
//!
//! The host counts exactly and has the last word. What is measured here is whether something can fit at all, so that
//! a value far beyond the budget is not written out first: it would take several times its size of the memory.

use std::cell::Cell;

use crate::wall;

/// Whatever is smaller is written whole and counted by the host.
const SMALL_BYTES: usize = 256 * 1024;

thread_local! {
    static OUTPUT_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Takes over the budget of each result of this run.
pub(crate) fn begin(output_bytes: usize) {
    OUTPUT_BYTES.set(output_bytes);
}

/// The budget of a result.
pub(crate) fn output_bytes() -> usize {
    OUTPUT_BYTES.get()
}

/// Most bytes that are written before the host is asked.
pub(crate) fn most() -> usize {
    output_bytes().max(SMALL_BYTES)
}

/// Ends this VM: a value, or the text that begins with `head`, has at least so many bytes `more` than can leave it.
pub(crate) fn overflow(head: &str, more: usize) -> ! {
    wall::overflow(head, more)
}
