//! The crate from outside: programs in, verdicts out.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod cases;
mod hostile;
mod properties;
