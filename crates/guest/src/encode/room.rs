//! What a JSON text is for, and how long it can be at most.

use rquickjs::{Ctx, Error, Result};

use crate::{budget, errors};

/// Largest JSON text of one argument.
///
/// Upstream servers answer nothing useful to more, and one line of their protocol may hold 16 MiB.
pub(crate) const MAX_ARGUMENT_BYTES: usize = 8 * 1024 * 1024;
/// Longest text of something that is told beside a result; beyond it, it is left out.
const MAX_DETAIL_BYTES: usize = 64 * 1024;

/// Why a value crosses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// As the input of a call: what has no faithful form is refused, and so is what is too large.
    Argument,
    /// As a result or output: what has no faithful form is named, and what is too large ends the VM.
    Value,
    /// As output in the form of text, of which the head is kept.
    Text,
    /// As a part of an error or a reason: what is too large has no form.
    Detail,
}

/// The room that a text has.
pub(super) struct Room<'c, 'js> {
    pub(super) ctx: &'c Ctx<'js>,
    pub(super) purpose: Purpose,
    most: usize,
}

impl<'c, 'js> Room<'c, 'js> {
    pub(super) fn new(ctx: &'c Ctx<'js>, purpose: Purpose) -> Self {
        let most = match purpose {
            Purpose::Argument => MAX_ARGUMENT_BYTES,
            Purpose::Value | Purpose::Text => budget::most(),
            Purpose::Detail => MAX_DETAIL_BYTES,
        };
        Self { ctx, purpose, most }
    }

    /// Whether `more` bytes fit behind what is `written`. If not, that is an error for an argument or a detail, and the
    /// end for output.
    pub(super) fn fit(&self, written: &str, more: usize) -> Result<()> {
        let bytes = written.len().saturating_add(more);
        if bytes <= self.most {
            return Ok(());
        }
        match self.purpose {
            Purpose::Argument => Err(too_large(self.ctx, &format!("at least {bytes}"))),
            Purpose::Detail => Err(errors::throw(self.ctx, "RangeError", "too large to be told")),
            Purpose::Value => budget::overflow("", bytes),
            Purpose::Text => budget::overflow(written, more),
        }
    }
}

/// Refuses an argument.
pub(crate) fn too_large(ctx: &Ctx<'_>, size: &str) -> Error {
    let message =
        format!("the arguments are {size} bytes of JSON, more than the limit of {MAX_ARGUMENT_BYTES}");
    errors::throw(ctx, "RangeError", &message)
}
