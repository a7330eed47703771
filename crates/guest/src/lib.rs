//! The program inside the wall: QuickJS, the global functions of a cell, and the adapter that turns values into
//! JSON text.
//!
//! It never sees the host: everything it can do beyond computing is one of the functions declared in `wall`.
//! It is built for `wasm32-unknown-unknown` by `cargo xtask guest`, booted once at build time and shipped as the
//! artefact that `codecell-guest-runtime` embeds, so a fresh VM starts with all of this already in memory.
//!
//! ```text
//! eval(size)       takes seed, budget and code, runs until nothing is left to do, answers with a report
//! settle(size)     takes answers, runs on, answers with a report
//! unhandled(0)     answers with the rejections nobody handled
//! ```
#![expect(
    unsafe_code,
    reason = "the wasm boundary and the C API of QuickJS have no safe form"
)]

mod budget;
mod bytes;
mod calls;
mod cell;
mod clone;
mod decode;
mod encode;
mod errors;
mod inspect;
mod intrinsics;
mod js;
mod natives;
mod number;
mod text;
mod vm;
mod wall;
