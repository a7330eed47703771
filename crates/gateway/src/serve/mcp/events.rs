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
    /// That a request of ours is settled.
    Withdrawal,
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

    /// Takes what is about questions and nobody has read.
    pub(super) fn take_questions(&self) -> Vec<(Kind, Bytes)> {
        let mut log = self.lock();
        let unread = log.unread;
        let mut taken = Vec::new();
        log.kept.retain(|event| {
            let wanted = event.number >= unread && matches!(event.kind, Kind::Question(_) | Kind::Withdrawal);
            if wanted {
                taken.push((event.kind.clone(), event.text.clone()));
            }
            !wanted
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

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;

    use super::{Events, Kind, MAX_READ, MAX_READERS, MAX_UNREAD, Reader};

    /// The texts of the next events, read as far as there are any.
    async fn texts(reader: &mut Reader, count: usize) -> Vec<String> {
        let mut texts = Vec::new();
        for _ in 0..count {
            let event = reader.next().await.unwrap();
            texts.push(String::from_utf8(event.text.to_vec()).unwrap());
        }
        texts
    }

    #[tokio::test]
    async fn what_was_read_can_be_read_again_and_nothing_is_told_twice() {
        let events = Events::resumable(1);
        for text in ["a", "b", "c"] {
            events.push(Kind::News, text);
        }
        let mut first = events.read(None);
        assert_eq!(texts(&mut first, 2).await, ["a", "b"]);
        let mut second = events.read(None);
        assert_eq!(texts(&mut second, 1).await, ["c"]);
        // The first gets nothing as long as there is a newer one, and goes on when that leaves.
        events.push(Kind::News, "d");
        assert_eq!(texts(&mut second, 1).await, ["d"]);
        drop(second);
        events.push(Kind::News, "e");
        assert_eq!(texts(&mut first, 1).await, ["e"]);
        let mut again = events.read(Some(0));
        assert_eq!(texts(&mut again, 4).await, ["b", "c", "d", "e"]);
        // Somebody who heard more than was said has heard it all.
        drop(again);
        let mut ahead = events.read(Some(99));
        events.push(Kind::Answer(None), "f");
        events.end();
        assert_eq!(texts(&mut ahead, 1).await, ["f"]);
        assert!(ahead.next().await.is_none() && first.next().await.is_none());
        events.push(Kind::News, "after the end");
        assert!(events.read(None).next().await.is_none());
    }

    #[tokio::test]
    async fn a_stream_keeps_no_more_than_it_should() {
        let resumable = Events::resumable(1);
        for number in 0..MAX_UNREAD + 10 {
            resumable.push(Kind::News, number.to_string());
        }
        // News are lost to a slow reader, answers are not.
        resumable.push(Kind::Answer(None), "answer");
        let mut reader = resumable.read(None);
        let read = texts(&mut reader, MAX_UNREAD + 1).await;
        assert_eq!((read[0].as_str(), read[MAX_UNREAD - 1].as_str()), ("0", "255"));
        assert_eq!(read[MAX_UNREAD], "answer");
        assert_eq!(resumable.lock().kept.len(), MAX_READ);
        // Of what is large only the last is kept.
        for _ in 0..2 {
            resumable.push(Kind::Answer(None), vec![b'x'; 300_000]);
            assert_eq!(texts(&mut reader, 1).await[0].len(), 300_000);
        }
        assert_eq!(resumable.lock().kept.len(), 1);
        // What nobody can come back for is not kept at all.
        let once = Events::once();
        once.push(Kind::News, "a");
        assert_eq!(texts(&mut once.read(None), 1).await, ["a"]);
        assert_eq!(once.lock().kept.len(), 0);
    }

    #[tokio::test]
    async fn the_oldest_reader_leaves_when_there_are_too_many() {
        let events = Events::resumable(1);
        let mut readers: Vec<Reader> = (0..=MAX_READERS).map(|_| events.read(None)).collect();
        assert!(readers[0].next().await.is_none());
        assert_eq!(events.now().readers, MAX_READERS);
        events.push(Kind::News, "a");
        assert_eq!(texts(&mut readers[MAX_READERS], 1).await, ["a"]);
    }

    #[tokio::test]
    async fn a_question_that_nobody_read_can_be_taken_back() {
        let events = Events::resumable(0);
        let [one, two] = [1, 2].map(RequestId::Number);
        events.push(Kind::Question(one.clone()), "1");
        events.push(Kind::News, "news");
        events.push(Kind::Question(two.clone()), "2");
        assert!(events.take_back(&two));
        assert!(!events.take_back(&two));
        let mut reader = events.read(None);
        assert_eq!(texts(&mut reader, 1).await, ["1"]);
        assert!(!events.take_back(&one), "it was read");
        events.push(Kind::Question(two.clone()), "2");
        events.push(Kind::Withdrawal, "not 1");
        let taken = events.take_questions();
        let kinds: Vec<&Kind> = taken.iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [&Kind::Question(two), &Kind::Withdrawal]);
        assert_eq!(texts(&mut reader, 1).await, ["news"]);
    }
}
