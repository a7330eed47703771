//! Counts how often models are asked, and what becomes of it.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use codecell_agent::{Arriving, Asking, Model, ModelStream};
use codecell_llm::{Api, Client, Error, Event, Guard, Request};
use tokio_util::sync::CancellationToken;

use super::counters::Counters;

/// The model of one turn. Every request is counted once, when nothing more comes of it.
pub(super) struct Counted {
    pub(super) client: Client,
    pub(super) counters: Arc<Counters>,
    /// How often it was asked.
    pub(super) rounds: Arc<AtomicU32>,
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
        self.rounds.fetch_add(1, Ordering::Relaxed);
        let mut asked = Asked {
            counters: Arc::clone(&self.counters),
            api: self.client.api(),
            outcome: "cancelled",
        };
        Box::pin(async move {
            match Model::ask(&self.client, request, guard, cancel).await {
                Ok(stream) => Ok(Box::new(CountedStream { stream, asked }) as Box<dyn ModelStream>),
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
}

impl ModelStream for CountedStream {
    fn next(&mut self) -> Arriving<'_> {
        Box::pin(async move {
            let next = self.stream.next().await;
            match &next {
                Some(Ok(Event::Done(_))) => self.asked.outcome = "ok",
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
