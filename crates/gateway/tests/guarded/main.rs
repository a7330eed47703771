//! What stands between a program and its tools, through the built binary: configuration, policy, approvals, records.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod approvals;
mod core_tools;
mod door;
mod elicitation;
mod place;
mod policy;
mod start;
mod trajectory;

const BINARY: &str = env!("CARGO_BIN_EXE_codecell");
