//! The part of a turn that one response tells: until its end, or until it waits for the application.
use codecell_agent::{ClientCall, Event, Stop};
use codecell_llm::Usage;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio_util::sync::CancellationToken;

use super::super::error::ApiError;
use super::failure;
use crate::turns::{Happening, Running};

/// A turn, heard by one response. When it goes before its end, because the client has gone, the turn is aborted.
pub(super) struct Leg {
    running: Running,
    /// Fires when the server is asked to end.
    stopping: CancellationToken,
    round: u32,
}

/// Something that a response tells.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// More text of the model, which it says in this round.
    Text { round: u32, text: String },
    /// The leg is over, and has cost so much.
    Over(Over, Usage),
}

/// How a leg that did not fail is over. What was said last need not be the model's last word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Over {
    /// The application has to run these calls.
    Calls(Vec<ClientCall>),
    /// The model was done.
    Done,
    /// The model or the turn reached a limit.
    Cut,
    /// The model or its provider refused.
    Refused,
}

impl Leg {
    pub(super) fn new(running: Running, stopping: CancellationToken) -> Self {
        Self {
            running,
            stopping,
            round: 0,
        }
    }

    /// Names the turn.
    pub(super) fn turn(&self) -> &str {
        self.running.id()
    }

    /// What it tells. Nothing follows the end or an error.
    pub(super) fn pieces(self) -> impl Stream<Item = Result<Piece, ApiError>> + Send {
        unfold(Some(self), |leg| async {
            let mut leg = leg?;
            let piece = leg.next().await;
            let goes_on = matches!(piece, Ok(Piece::Text { .. }));
            Some((piece, goes_on.then_some(leg)))
        })
    }

    async fn next(&mut self) -> Result<Piece, ApiError> {
        while let Some(happening) = self.running.next().await {
            let Happening::Turn(event) = happening else {
                continue;
            };
            match event {
                Event::RoundStarted { round } => self.round = round,
                Event::Text(text) if !text.is_empty() => {
                    let round = self.round;
                    return Ok(Piece::Text { round, text });
                }
                Event::Suspended { calls } => return Ok(self.over(Over::Calls(calls))),
                Event::Ended(end) => {
                    let over = over(&end.stop, self.stopping.is_cancelled());
                    // Whoever is asked a second time has called tools before.
                    let over = over.map_err(|error| error.after_effects(self.running.rounds() > 1))?;
                    return Ok(self.over(over));
                }
                _ => {}
            }
        }
        // It tells its end before it falls silent.
        Err(failure::of_abort(self.stopping.is_cancelled()))
    }

    fn over(&self, over: Over) -> Piece {
        Piece::Over(over, self.running.take_spent())
    }
}

fn over(stop: &Stop, is_shutting_down: bool) -> Result<Over, ApiError> {
    match stop {
        Stop::Done => Ok(Over::Done),
        Stop::Length | Stop::Limit(_) => Ok(Over::Cut),
        Stop::Refused(_) => Ok(Over::Refused),
        Stop::Aborted => Err(failure::of_abort(is_shutting_down)),
        Stop::Failed(error) => Err(failure::of_turn(error)),
    }
}

/// Tokens that were read, those from and for the cache included.
pub(super) fn read(usage: Usage) -> u64 {
    usage
        .input
        .saturating_add(usage.cache_read)
        .saturating_add(usage.cache_write)
}
