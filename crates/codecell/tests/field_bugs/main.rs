//! What people reported against systems like this one, replayed: one test for each report, named after its id in
//! `docs/field-bugs.md`, with a few neighbours of its input.
//!
//! Most programs are played twice: straight through, and suspended and resumed in between. Both must come to the
//! same.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod adversarial;
mod arguments;
mod declarations;
mod discovery;
mod errors;
mod limits;
mod names;
mod play;
mod process;
mod results;
mod silence;
mod source;
mod spans;
mod suspension;
#[allow(dead_code, reason = "shared with another test binary, which uses all of it")]
#[path = "../it/tools.rs"]
mod tools;
mod wishes;
