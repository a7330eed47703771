//! Plugins that load, that do not, and that go; and tools from closures.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests fail by panicking, and try what panics"
)]

mod define;
mod load;
mod world;
