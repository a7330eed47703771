//! Adds turns to the trajectory that the user asked for.
use std::path::Path;

use codecell_sessions::{Sessions, export};

use crate::wiring::{append_events, redactor};

/// Appends what one turn did, as the transcript has it. A turn that is over cannot fail any more, so a trajectory that
/// cannot be written is only complained about.
pub(super) async fn add(sessions: &Sessions, run: &str, file: &Path) {
    let entries = match sessions.up_to_run(run).await {
        Ok(branch) => branch.map(|branch| branch.entries).unwrap_or_default(),
        Err(error) => {
            tracing::error!(%error, "the trajectory is incomplete: the transcript cannot be read");
            return;
        }
    };
    // All of it, so that events are numbered within their session.
    let mut events = export(&entries, &[], &redactor());
    events.retain(|event| event.run_id.as_deref() == Some(run));
    let file = file.to_owned();
    let written = tokio::task::spawn_blocking(move || append_events(&file, &events)).await;
    if let Ok(Err(error)) = written {
        tracing::error!(%error, "the trajectory is incomplete: its file cannot be written");
    }
}
