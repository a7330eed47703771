//! Programs that attack what they run in, each a file of `programs` that says what it attacks and how it must end.
//!
//! Every one is played alone, suspended before its first line and resumed, and beside a quiet neighbour in the same
//! engine. After each the neighbour still gets its answer, and no VM and no suspended run is left.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod attack;
mod play;
#[allow(dead_code, reason = "shared with another test binary, which uses all of it")]
#[path = "../it/tools.rs"]
mod tools;

use crate::play::all_of;

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_memory_end_as_they_say() {
    all_of("memory").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_the_stack_end_as_they_say() {
    all_of("stack").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_time_end_as_they_say() {
    all_of("time").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_with_microtasks_end_as_they_say() {
    all_of("microtasks").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_with_regular_expressions_end_as_they_say() {
    all_of("regexp").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_prototypes_end_as_they_say() {
    all_of("prototypes").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_the_prelude_end_as_they_say() {
    all_of("prelude").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_the_wrapper_end_as_they_say() {
    all_of("wrapper").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_on_the_bridge_end_as_they_say() {
    all_of("bridge").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_with_output_end_as_they_say() {
    all_of("output").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_with_pending_calls_end_as_they_say() {
    all_of("pending").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_with_timers_end_as_they_say() {
    all_of("timers").await;
}
