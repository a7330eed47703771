//! Writes a turn into the transcript of its session, in order, and says when it is on the disk.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use codecell_agent::JournalError;
use codecell_sessions::{Entry, Sessions};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

/// Entries that are written with one sync of the disk.
const MAX_BATCH: usize = 256;

/// Largest part of an entry in bytes of JSON; above it, only its size is kept. Below the store's own limit, so that
/// a large result costs its text and not the turn.
const MAX_PART_BYTES: usize = 256 << 10;

/// What may wait for the disk, about. Above it notes keep no more than this of a part: a program makes calls faster
/// than a slow disk takes them, and nothing holds it up.
const MAX_WAITING_BYTES: usize = 32 << 20;
const HURRIED_PART_BYTES: usize = 512;

/// How long the end of a turn waits for the ends of its calls.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The one writer of a turn. Its methods keep the order in which they are called.
#[derive(Clone)]
pub(crate) struct Scribe {
    queue: mpsc::UnboundedSender<Line>,
    /// Bytes of the parts that wait for the disk.
    waiting: Arc<AtomicUsize>,
    /// Calls whose end was not noted yet.
    open: watch::Sender<usize>,
}

struct Line {
    entries: Vec<Entry>,
    bytes: usize,
    kept: Option<oneshot::Sender<Result<(), String>>>,
}

impl Scribe {
    /// Starts to write the turn `run` of the session `key`. It stops when the last clone is gone and all is written.
    pub(crate) fn start(sessions: Sessions, key: String, run: String) -> Self {
        let (scribe, lines) = Self::new();
        let waiting = Arc::clone(&scribe.waiting);
        tokio::spawn(write(sessions, key, run, lines, waiting));
        scribe
    }

    fn new() -> (Self, mpsc::UnboundedReceiver<Line>) {
        let (queue, lines) = mpsc::unbounded_channel();
        let scribe = Self {
            queue,
            waiting: Arc::default(),
            open: watch::Sender::new(0),
        };
        (scribe, lines)
    }

    /// Writes an entry soon.
    pub(crate) fn note(&self, entry: Entry) {
        let hurried = self.waiting.load(Ordering::Relaxed) > MAX_WAITING_BYTES;
        let most = if hurried {
            HURRIED_PART_BYTES
        } else {
            MAX_PART_BYTES
        };
        self.send([entry], most, None);
    }

    /// Notes that a call begins; [`ended`](Self::ended) follows.
    pub(crate) fn begun(&self, call: Entry) {
        self.open.send_modify(|open| *open += 1);
        self.note(call);
    }

    /// Notes the result of a call that has begun.
    pub(crate) fn ended(&self, result: Entry) {
        self.note(result);
        self.open.send_modify(|open| *open = open.saturating_sub(1));
    }

    /// Returns when everything is on the disk, the ends of the calls that were cancelled just now too: they come from
    /// tasks of their own, and no call is left without its result.
    ///
    /// # Errors
    ///
    /// Fails when the disk does.
    pub(crate) async fn close(&self) -> Result<(), JournalError> {
        let mut open = self.open.subscribe();
        drop(timeout(LAST_WORDS, open.wait_for(|open| *open == 0)).await);
        self.flush().await
    }

    /// Writes entries, all or none, and everything noted before them, and returns when they are on the disk.
    ///
    /// # Errors
    ///
    /// Fails when the disk does.
    pub(crate) async fn keep(&self, entries: Vec<Entry>) -> Result<(), JournalError> {
        let (kept, answer) = oneshot::channel();
        self.send(entries, MAX_PART_BYTES, Some(kept));
        match answer.await {
            Ok(kept) => kept.map_err(JournalError),
            Err(_) => Err(JournalError("its writer is gone".into())),
        }
    }

    /// Returns when everything noted so far is on the disk.
    pub(crate) async fn flush(&self) -> Result<(), JournalError> {
        self.keep(Vec::new()).await
    }

    fn send(
        &self,
        entries: impl IntoIterator<Item = Entry>,
        most: usize,
        kept: Option<oneshot::Sender<Result<(), String>>>,
    ) {
        let (entries, sizes): (Vec<Entry>, Vec<usize>) =
            entries.into_iter().map(|entry| fitted(entry, most)).unzip();
        let bytes = sizes.into_iter().sum();
        self.waiting.fetch_add(bytes, Ordering::Relaxed);
        // The writer ends after the last scribe.
        let _ = self.queue.send(Line { entries, bytes, kept });
    }
}

async fn write(
    sessions: Sessions,
    key: String,
    run: String,
    mut lines: mpsc::UnboundedReceiver<Line>,
    waiting_bytes: Arc<AtomicUsize>,
) {
    let mut batch = Vec::new();
    // A note that was lost is not forgotten: the next one who asks hears of it, and the turn ends.
    let mut lost: Option<String> = None;
    while lines.recv_many(&mut batch, MAX_BATCH).await > 0 {
        let bytes: usize = batch.iter().map(|line| line.bytes).sum();
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
        waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        for kept in waiting.into_iter().flatten() {
            // Whoever asked may be gone.
            let _ = kept.send(lost.clone().map_or(Ok(()), Err));
        }
    }
}

/// The entry, with parts that are larger than `most` replaced by their size, and the bytes of its parts.
fn fitted(mut entry: Entry, most: usize) -> (Entry, usize) {
    let bytes = match &mut entry {
        Entry::User { text } | Entry::Assistant { text } => cut(text, most),
        Entry::ToolCall(call) => shrink(&mut call.arguments, most),
        Entry::ToolResult(result) => shrink(&mut result.result, most),
        Entry::SessionInfo { .. } => 0,
    };
    (entry, bytes)
}

fn cut(text: &mut String, most: usize) -> usize {
    if text.len() > most {
        let end = text.floor_char_boundary(most);
        text.truncate(end);
        text.push_str("… [truncated]");
    }
    text.len()
}

fn shrink(value: &mut Value, most: usize) -> usize {
    let bytes = value.to_string().len();
    if bytes > most {
        *value = json!({ "truncated": true, "originalBytes": bytes });
    }
    bytes.min(most)
}

#[cfg(test)]
mod tests {
    use codecell_sessions::ToolCall;

    use super::*;

    fn call(bytes: usize) -> Entry {
        Entry::ToolCall(ToolCall::direct("c", "look", Value::from("x".repeat(bytes))))
    }

    fn arguments(entry: &Entry) -> &Value {
        match entry {
            Entry::ToolCall(call) => &call.arguments,
            other => panic!("no call: {other:?}"),
        }
    }

    #[test]
    fn a_part_that_is_too_large_is_kept_as_its_size() {
        for (bytes, most, kept) in [(10, 12, true), (10, 11, false), (10_000, 512, false)] {
            let (entry, counted) = fitted(call(bytes), most);
            let expected = if kept {
                Value::from("x".repeat(bytes))
            } else {
                json!({ "truncated": true, "originalBytes": bytes + 2 })
            };
            assert_eq!(
                (arguments(&entry), counted),
                (&expected, most.min(bytes + 2)),
                "{bytes} {most}"
            );
        }
        let (entry, counted) = fitted(Entry::User { text: "aä".into() }, 2);
        let text = "a… [truncated]".to_owned();
        assert_eq!((entry, counted), (Entry::User { text: text.clone() }, text.len()));
    }

    #[tokio::test]
    async fn the_end_waits_for_the_ends_of_calls() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.sqlite");
        let sessions = Sessions::open(&path, codecell_sessions::Limits::default())
            .await
            .unwrap();
        let scribe = Scribe::start(sessions.clone(), "s".into(), "r".into());
        scribe.begun(call(1));
        let mut closing = Box::pin(scribe.close());
        assert!(futures_util::poll!(&mut closing).is_pending());
        scribe.ended(call(2));
        closing.await.unwrap();
        assert_eq!(sessions.branch("s").await.unwrap().len(), 2);
    }

    #[test]
    fn a_disk_that_takes_nothing_does_not_fill_the_memory() {
        let (scribe, mut lines) = Scribe::new();
        for _ in 0..1_000 {
            scribe.note(call(200_000));
        }
        let mut whole = 0;
        while let Ok(line) = lines.try_recv() {
            assert_eq!(line.entries.len(), 1);
            whole += usize::from(arguments(&line.entries[0]).is_string());
        }
        assert_eq!(whole, MAX_WAITING_BYTES / 200_002 + 1);
    }
}
