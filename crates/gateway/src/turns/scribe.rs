//! Writes a turn into the transcript of its session, in order, and says when it is on the disk.
use std::time::SystemTime;

use codecell_agent::JournalError;
use codecell_sessions::{Entry, Sessions};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// Entries that are written with one sync of the disk.
const MAX_BATCH: usize = 256;

/// Largest part of an entry in bytes of JSON; above it, only its size is kept. Below the store's own limit, so that
/// a large result costs its text and not the turn.
const MAX_PART_BYTES: usize = 256 << 10;

/// The one writer of a turn. Its methods keep the order in which they are called.
#[derive(Clone)]
pub(crate) struct Scribe {
    queue: mpsc::UnboundedSender<Line>,
}

struct Line {
    entries: Vec<Entry>,
    kept: Option<oneshot::Sender<Result<(), String>>>,
}

impl Scribe {
    /// Starts to write the turn `run` of the session `key`. It stops when the last clone is gone and all is written.
    pub(crate) fn start(sessions: Sessions, key: String, run: String) -> Self {
        let (queue, lines) = mpsc::unbounded_channel();
        tokio::spawn(write(sessions, key, run, lines));
        Self { queue }
    }

    /// Writes an entry soon.
    pub(crate) fn note(&self, entry: Entry) {
        // The writer ends after the last scribe.
        let _ = self.queue.send(Line {
            entries: vec![fitted(entry)],
            kept: None,
        });
    }

    /// Writes entries, all or none, and everything noted before them, and returns when they are on the disk.
    ///
    /// # Errors
    ///
    /// Fails when the disk does.
    pub(crate) async fn keep(&self, entries: Vec<Entry>) -> Result<(), JournalError> {
        let (kept, answer) = oneshot::channel();
        let line = Line {
            entries: entries.into_iter().map(fitted).collect(),
            kept: Some(kept),
        };
        let _ = self.queue.send(line);
        match answer.await {
            Ok(kept) => kept.map_err(JournalError),
            Err(_) => Err(JournalError("its writer is gone".into())),
        }
    }

    /// Returns when everything noted so far is on the disk.
    pub(crate) async fn flush(&self) -> Result<(), JournalError> {
        self.keep(Vec::new()).await
    }
}

async fn write(sessions: Sessions, key: String, run: String, mut lines: mpsc::UnboundedReceiver<Line>) {
    let mut batch = Vec::new();
    // A note that was lost is not forgotten: the next one who asks hears of it, and the turn ends.
    let mut lost: Option<String> = None;
    while lines.recv_many(&mut batch, MAX_BATCH).await > 0 {
        let (entries, waiting): (Vec<_>, Vec<_>) =
            batch.drain(..).map(|line| (line.entries, line.kept)).unzip();
        let entries: Vec<Entry> = entries.into_iter().flatten().collect();
        if !entries.is_empty() {
            let stored = sessions
                .append(&key, Some(&run), entries, SystemTime::now())
                .await;
            if let Err(error) = stored {
                tracing::error!(%error, "the transcript cannot be written");
                lost = Some(error.to_string());
            }
        }
        for kept in waiting.into_iter().flatten() {
            // Whoever asked may be gone.
            let _ = kept.send(lost.clone().map_or(Ok(()), Err));
        }
    }
}

/// The entry, with parts that are too large replaced by their size.
fn fitted(mut entry: Entry) -> Entry {
    match &mut entry {
        Entry::User { text } | Entry::Assistant { text } => cut(text),
        Entry::ToolCall(call) => shrink(&mut call.arguments),
        Entry::ToolResult(result) => shrink(&mut result.result),
        Entry::SessionInfo { .. } => {}
    }
    entry
}

fn cut(text: &mut String) {
    if text.len() > MAX_PART_BYTES {
        let end = text.floor_char_boundary(MAX_PART_BYTES);
        text.truncate(end);
        text.push_str("… [truncated]");
    }
}

fn shrink(value: &mut Value) {
    let bytes = value.to_string().len();
    if bytes > MAX_PART_BYTES {
        *value = json!({ "truncated": true, "originalBytes": bytes });
    }
}
