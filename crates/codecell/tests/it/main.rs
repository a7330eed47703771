//! The contract of `exec` and `wait`, played against the real guest and a source of tools that keeps count.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod calls;
mod limits;
mod programs;
mod refusals;
mod suspension;
mod tools;
