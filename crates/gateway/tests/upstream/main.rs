//! The upstream side against servers that misbehave.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]
#[path = "../support/mod.rs"]
mod support;

mod catalog;
mod eras;
mod http;
mod lifecycle;
mod requests;
