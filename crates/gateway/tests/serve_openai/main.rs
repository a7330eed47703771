//! The OpenAI-compatible API of `codecell serve`, through the built binary and a provider that is told what to say.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod answers;
mod failures;
mod plain;
mod previous;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../serve_ops/provider.rs"]
mod provider;
mod refused;
mod server;
mod sessions;
mod suspended;
