//! What goes out on one stream.
//!
//! Whoever has something to say puts it here and never waits; whoever reads takes it at its own pace. What was read is
//! kept for a while, so that a reader whose connection broke can go on where it was.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use rmcp::model::{ErrorCode, RequestId};
use tokio::sync::watch;

/// News that may wait for a slow reader. More are dropped: a later one says the same and more.
const MAX_UNREAD: usize = 256;

/// What is kept of what was read, in events and in bytes. The last event is kept whatever its size.
const MAX_READ: usize = 64;
const MAX_READ_BYTES: usize = 256 * 1024;

/// Readers of one stream. A client has one, and for a moment two when it comes back before the first is found dead.
const MAX_READERS: usize = 8;

/// One message to the client, as JSON text.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Its place in the stream.
    pub(super) number: u64,
    pub(super) text: Bytes,
    pub(super) kind: Kind,
}

/// What an event is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing yet but a place to come back to.
    Greeting,
    /// Something that may be lost.
    News,
    /// A request of ours.
    Question(RequestId),
    /// The answer to a request, and its code if it is an error.
    Answer(Option<ErrorCode>),
}

/// A stream. Shared by those who write and those who read.
pub(super) struct Events {
    /// The number under which a client can come back for it, if it can.
    stream: Option<u64>,
    log: Mutex<Log>,
    /// Told of every change.
    attention: watch::Sender<Attention>,
}

#[derive(Default)]
struct Log {
    kept: VecDeque<Event>,
    /// The number of the next event.
    next: u64,
    /// The number of the first event that nobody has read.
    unread: u64,
    /// Who reads, newest last. Only the newest gets anything: nothing is to be told twice.
    readers: Vec<u64>,
    last_reader: u64,
    over: bool,
}

/// How a stream stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attention {
    pub(super) readers: usize,
    pub(super) over: bool,
}

impl Events {
    /// A stream that ends with its connection.
    pub(super) fn once() -> Arc<Self> {
        Self::new(None)
    }

    /// A stream that a client can come back for.
    pub(super) fn resumable(stream: u64) -> Arc<Self> {
        Self::new(Some(stream))
    }

    fn new(stream: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            stream,
            log: Mutex::default(),
            attention: watch::Sender::new(Attention::default()),
        })
    }

    /// Adds to the stream, unless it is over.
    pub(super) fn push(&self, kind: Kind, text: impl Into<Bytes>) {
        let mut log = self.lock();
        let flood = kind == Kind::News && log.kept.len() - log.read() >= MAX_UNREAD;
        if log.over || flood {
            return;
        }
        let number = log.next;
        log.next += 1;
        log.kept.push_back(Event {
            number,
            text: text.into(),
            kind,
        });
        self.tell(&log);
    }

    /// Takes back a question that nobody has read; false if there is none.
    pub(super) fn take_back(&self, question: &RequestId) -> bool {
        let mut log = self.lock();
        let read = log.read();
        let mut unread = log.kept.iter().skip(read);
        let at = unread.position(|event| matches!(&event.kind, Kind::Question(id) if id == question));
        at.and_then(|at| log.kept.remove(read + at)).is_some()
    }

    /// Takes all questions that nobody has read.
    pub(super) fn take_questions(&self) -> Vec<(RequestId, Bytes)> {
        let mut log = self.lock();
        let unread = log.unread;
        let mut taken = Vec::new();
        log.kept.retain(|event| match &event.kind {
            Kind::Question(id) if event.number >= unread => {
                taken.push((id.clone(), event.text.clone()));
                false
            }
            _ => true,
        });
        taken
    }

    /// Nothing more is said. Readers get what there is, and the end.
    pub(super) fn end(&self) {
        let mut log = self.lock();
        log.over = true;
        self.tell(&log);
    }

    /// Reads from the first event that nobody has read, or again from behind the event of this number.
    pub(super) fn read(self: &Arc<Self>, after: Option<u64>) -> Reader {
        let mut log = self.lock();
        if let Some(after) = after {
            log.unread = after.saturating_add(1).min(log.next);
        }
        log.last_reader += 1;
        let number = log.last_reader;
        if log.readers.len() >= MAX_READERS {
            log.readers.remove(0);
        }
        log.readers.push(number);
        let changes = self.attention.subscribe();
        self.tell(&log);
        drop(log);
        Reader {
            events: Arc::clone(self),
            number,
            changes,
        }
    }

    /// Follows how the stream stands.
    pub(super) fn attention(&self) -> watch::Receiver<Attention> {
        self.attention.subscribe()
    }

    /// How the stream stands.
    pub(super) fn now(&self) -> Attention {
        *self.attention.borrow()
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes everybody who waits for a change, whether or not the numbers are others now.
    fn tell(&self, log: &Log) {
        self.attention.send_replace(Attention {
            readers: log.readers.len(),
            over: log.over,
        });
    }
}

impl Log {
    /// How many of the kept events were read.
    fn read(&self) -> usize {
        self.kept.partition_point(|event| event.number < self.unread)
    }

    fn trim(&mut self, resumable: bool) {
        let mut read = self.read();
        let mut bytes: usize = self.kept.iter().take(read).map(|event| event.text.len()).sum();
        while read > 0 {
            let too_much = read > MAX_READ || (bytes > MAX_READ_BYTES && read > 1);
            if resumable && !too_much {
                break;
            }
            bytes -= self.kept.pop_front().map_or(0, |event| event.text.len());
            read -= 1;
        }
    }
}

/// Somebody who reads a stream, until it is dropped.
pub(super) struct Reader {
    events: Arc<Events>,
    number: u64,
    changes: watch::Receiver<Attention>,
}

impl Reader {
    /// The number under which the stream can be come back for.
    pub(super) fn stream(&self) -> Option<u64> {
        self.events.stream
    }

    /// The next event; `None` at the end. Nothing is lost if it is dropped half way.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            // Before the look, so that a change after it is not missed.
            self.changes.borrow_and_update();
            {
                let mut log = self.events.lock();
                let newest = log.readers.last() == Some(&self.number);
                let at = log.read();
                if newest && let Some(event) = log.kept.get(at).cloned() {
                    log.unread = event.number + 1;
                    log.trim(self.events.stream.is_some());
                    return Some(event);
                }
                if log.over || !log.readers.contains(&self.number) {
                    return None;
                }
            }
            self.changes.changed().await.ok()?;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut log = self.events.lock();
        log.readers.retain(|reader| *reader != self.number);
        self.events.tell(&log);
    }
}
