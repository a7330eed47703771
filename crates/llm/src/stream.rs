//! An answer that is still arriving.

use std::{collections::VecDeque, time::Duration};

use reqwest::Response;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::{Decoder, Error, Event, Frame, SseParser, client::cause, debug::Watch};

/// Most bytes of one event of a stream.
const MAX_FRAME: usize = 16 * 1024 * 1024;

/// An answer that is still arriving. Dropping it closes the connection.
#[derive(Debug)]
pub struct ReplyStream {
    response: Response,
    parser: SseParser,
    decoder: Decoder,
    idle: Duration,
    cancel: CancellationToken,
    ready: VecDeque<Event>,
    /// Told after what is ready.
    failure: Option<Error>,
    watch: Watch,
}

impl ReplyStream {
    pub(crate) fn new(
        response: Response,
        decoder: Decoder,
        idle: Duration,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            response,
            parser: SseParser::new(MAX_FRAME),
            decoder,
            idle,
            cancel,
            ready: VecDeque::new(),
            failure: None,
            watch: Watch::default(),
        }
    }

    /// The next event; `None` after [`Event::Done`] or an error.
    ///
    /// # Errors
    ///
    /// Fails when the answer breaks off, falls silent, cannot be read, or is cancelled. The error keeps what had
    /// arrived, and nothing follows it.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        loop {
            if self.cancel.is_cancelled() && !self.decoder.ended() {
                self.ready.clear();
                return Some(Err(self.decoder.cancelled()));
            }
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.failure.take() {
                return Some(Err(error));
            }
            if self.decoder.ended() {
                return None;
            }
            self.pull().await;
        }
    }

    /// Waits until there is something to tell.
    pub(crate) async fn begin(&mut self) -> Result<(), Error> {
        while self.ready.is_empty() && self.failure.is_none() && !self.decoder.ended() {
            self.pull().await;
        }
        match self.failure.take() {
            // An error after events is told after them.
            Some(error) if !self.ready.is_empty() => self.failure = Some(error),
            Some(error) => return Err(error),
            None => {}
        }
        Ok(())
    }

    async fn pull(&mut self) {
        let arrived = self
            .cancel
            .run_until_cancelled(timeout(self.idle, self.response.chunk()))
            .await;
        let frames = match arrived {
            None => return self.failure = Some(self.decoder.cancelled()),
            Some(Err(_)) => return self.failure = Some(self.decoder.timed_out(self.idle)),
            Some(Ok(Err(error))) => return self.failure = Some(self.decoder.interrupted(cause(error))),
            Some(Ok(Ok(Some(bytes)))) => match self.parser.feed(&bytes) {
                Ok(frames) => frames,
                Err(error) => return self.failure = Some(self.decoder.malformed(error.to_string())),
            },
            Some(Ok(Ok(None))) => {
                if let Some(frame) = self.parser.end() {
                    self.take(&frame);
                }
                let last = self.decoder.end();
                return self.keep(last);
            }
        };
        for frame in frames {
            self.take(&frame);
        }
    }

    fn take(&mut self, frame: &Frame) {
        self.watch.event(&frame.data);
        let events = self.decoder.frame(frame);
        self.keep(events);
    }

    fn keep(&mut self, events: Result<Vec<Event>, Error>) {
        match events {
            Ok(events) => self.ready.extend(events),
            Err(error) => self.failure = Some(error),
        }
    }
}
