//! Plays guest programs against the engine: each file of `tests/programs` carries its own expectation.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod engine;
mod program;
mod programs;
mod suspension;
mod world;
