//! What is kept, in which order it comes back, and what happens to a file in bad hands.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod durability;
mod files;
mod keeping;
mod telling;

use std::{
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use codecell_sessions::{Entry, Limits, Sessions, StoredEntry};

const KEY: &str = "agent:main:main";

/// The first of June 2026, and as many seconds later.
fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_780_272_000 + seconds)
}

async fn open(folder: &Path) -> Sessions {
    Sessions::open(&folder.join("sessions.sqlite"), Limits::default())
        .await
        .unwrap()
}

fn user(text: &str) -> Entry {
    Entry::User {
        text: text.to_owned(),
    }
}

fn assistant(text: &str) -> Entry {
    Entry::Assistant {
        text: text.to_owned(),
    }
}

fn entries(stored: &[StoredEntry]) -> Vec<Entry> {
    stored.iter().map(|one| one.entry.clone()).collect()
}
