//! What a turn promises to its model, its tools, its listener and whoever keeps it. Model and tools are scripts, and
//! time stands still unless everybody waits.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod aborts;
mod answers;
mod batches;
mod events;
mod limits;
mod script;
mod suspension;
mod well_formed;
mod world;
