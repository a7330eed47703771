//! A faulty world around the gateway: servers that break at every phase, disks that take nothing, clients that go or
//! do not read, signals at the wrong moment. `docs/robustness.md` lists these faults with all others.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod calls;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../serve_mcp/client.rs"]
mod client;
mod clients;
mod disk;
mod greetings;
mod lists;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../guarded/place.rs"]
mod place;
mod raw;
mod scripted;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../serve_ops/server.rs"]
mod server;
mod signals;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../support/mod.rs"]
mod support;
mod wire;

const BINARY: &str = env!("CARGO_BIN_EXE_codecell");
