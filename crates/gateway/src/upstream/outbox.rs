//! What waits to be written to a child, in bounded memory: a server may stop reading for as long as it likes.
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Most bytes of replies and notifications that wait. Nobody waits for these, so those beyond are dropped: a server
/// that asks without reading the answers gets none.
const ASIDE_BYTES: usize = 1 << 20;

/// Lines in the order in which they go out. A request can be taken back until it is being written.
#[derive(Debug)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    more: Notify,
    limit: u64,
}

#[derive(Debug, Default)]
struct Waiting {
    letters: VecDeque<Letter>,
    requests: usize,
    asides: usize,
    writing: usize,
    ended: bool,
}

#[derive(Debug)]
struct Letter {
    /// The request's; other messages have none.
    id: Option<u64>,
    text: String,
}

/// Why a request was not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The child takes no more, ever.
    Ended,
    /// The child does not read: so many bytes wait for it.
    Full(u64),
}

impl Outbox {
    /// Holds `limit` bytes of requests, or a single one of any size.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            waiting: Mutex::default(),
            more: Notify::new(),
            limit,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a request.
    pub(super) fn request(&self, id: u64, text: String) -> Result<(), Refused> {
        let mut waiting = self.lock();
        if waiting.ended {
            return Err(Refused::Ended);
        }
        if waiting.requests > 0 && (waiting.requests + text.len()) as u64 > self.limit {
            return Err(Refused::Full(waiting.bytes()));
        }
        waiting.requests += text.len();
        waiting.letters.push_back(Letter { id: Some(id), text });
        drop(waiting);
        self.more.notify_one();
        Ok(())
    }

    /// Queues a message that nobody waits for.
    pub(super) fn tell(&self, text: String) {
        let mut waiting = self.lock();
        if waiting.ended || waiting.asides + text.len() > ASIDE_BYTES {
            return;
        }
        waiting.asides += text.len();
        waiting.letters.push_back(Letter { id: None, text });
        drop(waiting);
        self.more.notify_one();
    }

    /// Takes a request back; `false` if it is not here any more, or never was.
    pub(super) fn withdraw(&self, id: u64) -> bool {
        let mut waiting = self.lock();
        let place = waiting.letters.iter().position(|letter| letter.id == Some(id));
        let letter = place.and_then(|place| waiting.letters.remove(place));
        let Some(letter) = letter else { return false };
        waiting.requests -= letter.text.len();
        true
    }

    /// The bytes that wait, with those that are being written.
    pub(super) fn bytes(&self) -> u64 {
        self.lock().bytes()
    }

    /// The next line; what was given before is written by now. For one reader.
    pub(super) async fn next(&self) -> String {
        loop {
            // Made before the look, so that nothing that comes in between is missed.
            let more = self.more.notified();
            if let Some(text) = self.lock().next() {
                return text;
            }
            more.await;
        }
    }

    /// Takes no more. What waits stays, so that its senders learn that it was not sent.
    pub(super) fn end(&self) {
        self.lock().ended = true;
    }
}

impl Waiting {
    fn bytes(&self) -> u64 {
        (self.requests + self.asides + self.writing) as u64
    }

    fn next(&mut self) -> Option<String> {
        self.writing = 0;
        let Letter { id, text } = self.letters.pop_front()?;
        let kind = if id.is_some() {
            &mut self.requests
        } else {
            &mut self.asides
        };
        *kind -= text.len();
        self.writing = text.len();
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// What a future has at once.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        futures_util::FutureExt::now_or_never(future)
    }

    fn text(bytes: usize) -> String {
        "x".repeat(bytes)
    }

    #[test]
    fn requests_beyond_the_bound_are_refused_until_there_is_room_again() {
        let outbox = Outbox::new(100);
        assert_eq!(outbox.request(1, text(500)), Ok(()), "one of any size");
        assert_eq!(outbox.request(2, text(1)), Err(Refused::Full(500)));
        assert_eq!(now(outbox.next()), Some(text(500)));
        assert_eq!(outbox.request(3, text(60)), Ok(()), "that one is on its way");
        assert_eq!(outbox.request(4, text(60)), Err(Refused::Full(560)));
        assert!(outbox.withdraw(3));
        assert_eq!(outbox.request(5, text(60)), Ok(()));
        assert_eq!(now(outbox.next()), Some(text(60)));
        assert_eq!(now(outbox.next()), None);
        assert_eq!(outbox.bytes(), 0);
    }

    #[test]
    fn a_request_can_be_taken_back_until_it_is_being_written() {
        let outbox = Outbox::new(100);
        for id in 1..=3 {
            outbox.request(id, id.to_string()).unwrap();
        }
        assert_eq!(now(outbox.next()).as_deref(), Some("1"));
        assert_eq!([1, 2, 2].map(|id| outbox.withdraw(id)), [false, true, false]);
        assert_eq!(now(outbox.next()).as_deref(), Some("3"));
    }

    #[test]
    fn replies_that_nobody_reads_are_dropped_and_requests_have_their_own_room() {
        let outbox = Outbox::new(100);
        for _ in 0..3_000 {
            outbox.tell(text(1 << 10));
        }
        assert_eq!(outbox.bytes(), 1 << 20);
        assert_eq!(outbox.request(1, text(100)), Ok(()));
    }

    #[test]
    fn after_the_end_nothing_is_taken_and_what_waited_can_be_told_apart() {
        let outbox = Outbox::new(100);
        outbox.request(1, text(1)).unwrap();
        outbox.end();
        outbox.tell(text(1));
        assert_eq!(outbox.request(2, text(1)), Err(Refused::Ended));
        assert!(outbox.withdraw(1));
        assert_eq!(outbox.bytes(), 0);
    }
}
