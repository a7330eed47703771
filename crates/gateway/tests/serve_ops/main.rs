//! `codecell serve` through the built binary, as its operator sees it: routes, metrics, the door, the end.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod doctor;
mod door;
mod metrics;
mod ops;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../guarded/place.rs"]
mod place;
#[allow(dead_code, reason = "these tests need a part of it")]
mod provider;
mod server;
mod sessions;
mod shutdown;

const BINARY: &str = env!("CARGO_BIN_EXE_codecell");
