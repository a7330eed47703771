//! Tells a leg as it happens, as server-sent events.
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream::unfold;
use serde_json::Value;
use tokio::time::timeout;

use super::super::error::ApiError;
use super::leg::{Leg, Piece};

/// How long a client hears nothing at most. Whoever is between it and us may take a longer silence for the end.
const SILENCE: Duration = Duration::from_secs(15);

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) event: Option<&'static str>,
    pub(super) data: String,
}

impl Frame {
    /// An event without a name.
    pub(super) fn of(data: &Value) -> Self {
        Self {
            event: None,
            data: data.to_string(),
        }
    }
}

/// Spells what a leg tells.
pub(super) trait Spelling: Send + 'static {
    /// What comes first.
    fn begin(&mut self) -> Vec<Frame>;

    /// What a piece comes to; the last one ends the stream.
    fn piece(&mut self, piece: Piece) -> Vec<Frame>;

    /// What ends the stream of a leg that failed.
    fn failed(&mut self, error: &ApiError) -> Vec<Frame>;
}

/// Tells a leg as it happens.
///
/// Until there is something to tell, a failure is the response's status. But a client does not wait for that for ever:
/// cells may run for long before the model says its first word.
pub(super) async fn told(leg: Leg, mut spelling: impl Spelling) -> Result<Response, ApiError> {
    let mut pieces = Box::pin(leg.pieces());
    let first = match timeout(SILENCE, pieces.next()).await {
        Ok(first) => first.transpose()?,
        Err(_) => None,
    };
    let mut ready = VecDeque::from(spelling.begin());
    if let Some(piece) = first {
        ready.extend(spelling.piece(piece));
    }
    let frames = unfold(
        (ready, pieces, spelling),
        |(mut ready, mut pieces, mut spelling)| async {
            loop {
                if let Some(frame) = ready.pop_front() {
                    return Some((Ok::<_, Infallible>(event(frame)), (ready, pieces, spelling)));
                }
                match pieces.next().await? {
                    Ok(piece) => ready.extend(spelling.piece(piece)),
                    Err(error) => ready.extend(spelling.failed(&error)),
                }
            }
        },
    );
    let keep_alive = KeepAlive::new().interval(SILENCE);
    Ok(Sse::new(frames).keep_alive(keep_alive).into_response())
}

fn event(frame: Frame) -> Event {
    let event = Event::default().data(frame.data);
    match frame.event {
        Some(name) => event.event(name),
        None => event,
    }
}

/// Waits for the end of a leg.
pub(super) async fn heard<S: Spelling>(leg: Leg, mut spelling: S) -> Result<S, ApiError> {
    let mut pieces = pin!(leg.pieces());
    while let Some(piece) = pieces.next().await {
        spelling.piece(piece?);
    }
    Ok(spelling)
}
