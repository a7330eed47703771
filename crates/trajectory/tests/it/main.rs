//! What is recorded, what is left out of it, and how it is read back.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod limits;
mod reading;
mod recording;
mod secrets;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use codecell_trajectory::{Clock, MemorySink, Recorder, TrajectoryEvent};
use serde_json::Value;

/// Midnight of the first of June 2026, and a second later each time it is asked.
fn clock() -> impl Clock {
    let asked = AtomicU64::new(0);
    move || -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_780_272_000 + asked.fetch_add(1, Ordering::Relaxed))
    }
}

fn recorder() -> (Recorder, MemorySink) {
    let sink = MemorySink::new(1_000_000);
    (Recorder::new("s1", sink.clone()).with_clock(clock()), sink)
}

fn types(events: &[TrajectoryEvent]) -> Vec<String> {
    let kind = |event: &TrajectoryEvent| serde_json::to_value(&event.kind).unwrap();
    events
        .iter()
        .map(|event| kind(event).as_str().unwrap().to_owned())
        .collect()
}

fn data(event: &TrajectoryEvent) -> &Value {
    event.data.as_ref().unwrap()
}
