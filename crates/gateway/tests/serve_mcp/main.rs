//! `/mcp` of `codecell serve` through the built binary, as raw HTTP, in both eras of the protocol.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod client;
mod ends;
mod limits;
mod modern;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../guarded/place.rs"]
mod place;
mod questions;
mod refused;
mod runs;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../serve_ops/server.rs"]
mod server;
mod sessions;
mod streams;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../support/mod.rs"]
mod support;
mod values;

const BINARY: &str = env!("CARGO_BIN_EXE_codecell");
