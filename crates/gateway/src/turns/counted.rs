//! Counts how often models are asked, and what becomes of it.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use codecell_agent::{Arriving, Asking, Model, ModelStream};
use codecell_llm::{Api, Client, Error, Event, Guard, Request, Usage};
use tokio_util::sync::CancellationToken;

use super::counters::Counters;

/// The model of one turn. Every request is counted once, when nothing more comes of it.
pub(super) struct Counted {
    pub(super) client: Client,
    pub(super) counters: Arc<Counters>,
    pub(super) tally: Arc<Tally>,
}

/// What a turn has asked of its model so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    rounds: AtomicU32,
    /// What was not yet told to anybody.
    spent: Mutex<Usage>,
}

impl Tally {
    /// How often the model was asked.
    pub(super) fn rounds(&self) -> u32 {
        self.rounds.load(Ordering::Relaxed)
    }

    /// What its answers cost since this was asked the last time.
    pub(super) fn take_spent(&self) -> Usage {
        std::mem::take(&mut *self.spent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn spend(&self, usage: Usage) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.input = spent.input.saturating_add(usage.input);
        spent.output = spent.output.saturating_add(usage.output);
        spent.cache_read = spent.cache_read.saturating_add(usage.cache_read);
        spent.cache_write = spent.cache_write.saturating_add(usage.cache_write);
    }
}

impl Model for Counted {
    fn api(&self) -> Api {
        self.client.api()
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        guard: &'a Guard<'a>,
        cancel: &'a CancellationToken,
    ) -> Asking<'a> {
        self.tally.rounds.fetch_add(1, Ordering::Relaxed);
        let tally = Arc::clone(&self.tally);
        let mut asked = Asked {
            counters: Arc::clone(&self.counters),
            api: self.client.api(),
            outcome: "cancelled",
        };
        Box::pin(async move {
            match Model::ask(&self.client, request, guard, cancel).await {
                Ok(stream) => Ok(Box::new(CountedStream { stream, asked, tally }) as Box<dyn ModelStream>),
                Err(error) => {
                    asked.failed(&error);
                    Err(error)
                }
            }
        })
    }
}

/// An answer that is still arriving.
struct CountedStream {
    stream: Box<dyn ModelStream>,
    asked: Asked,
    tally: Arc<Tally>,
}

impl ModelStream for CountedStream {
    fn next(&mut self) -> Arriving<'_> {
        Box::pin(async move {
            let next = self.stream.next().await;
            match &next {
                Some(Ok(Event::Done(reply))) => {
                    self.asked.outcome = "ok";
                    self.tally.spend(reply.usage);
                }
                Some(Err(error)) => self.asked.failed(error),
                Some(Ok(_)) | None => {}
            }
            next
        })
    }
}

/// One request. It is counted when this goes, so that one that nobody waits for any more is counted as well.
struct Asked {
    counters: Arc<Counters>,
    api: Api,
    outcome: &'static str,
}

impl Asked {
    fn failed(&mut self, error: &Error) {
        self.outcome = outcome(error);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.counters.provider_request(self.api, self.outcome);
    }
}

fn outcome(error: &Error) -> &'static str {
    match error {
        Error::Guard(_) => "guard",
        Error::Unreachable { .. } => "unreachable",
        Error::Status { status: 429, .. } => "rate_limited",
        Error::Status { status: 500.., .. } => "server_error",
        Error::Status { .. } => "refused",
        Error::TimedOut { .. } => "timeout",
        Error::Interrupted { .. } => "interrupted",
        Error::Malformed { .. } => "malformed",
        Error::Provider { .. } => "gave_up",
        Error::Cancelled { .. } => "cancelled",
        _ => "other",
    }
}
