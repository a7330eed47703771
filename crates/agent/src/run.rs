use std::sync::Arc;

use codecell_llm::{Message, Reply, Request, StopReason, ToolCall, ToolChoice, ToolResult, Usage};
use tokio::sync::mpsc;

use crate::event::{Event, Stop, TurnEnd, TurnError};
use crate::halt::Halt;
use crate::ids::Ids;
use crate::journal::{Journal, JournalError, Kept};
use crate::model::Model;
use crate::reply::{Broken, says_something, strip_calls};
use crate::surface::{Answer, ToolSurface};
use crate::tell::Teller;
use crate::turn::{Limits, Turn};

/// A turn under way.
///
/// Between two awaits its messages may lack results; wherever it returns, each call is followed by its own.
pub(crate) struct Run<'a> {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) surface: Arc<dyn ToolSurface>,
    journal: Arc<dyn Journal>,
    pub(crate) request: Request,
    pub(crate) limits: Limits,
    pub(crate) halt: &'a Halt,
    pub(crate) teller: Teller,
    pub(crate) ids: Ids,
    /// How many of the request's messages were there before the turn.
    before: usize,
    usage: Usage,
    rounds: u32,
    /// Set once: nothing is kept after what could not be.
    not_kept: Option<JournalError>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(turn: Turn, events: mpsc::Sender<Event>, halt: &'a Halt) -> Self {
        let mut request = turn.request;
        request.tools = turn.surface.tools();
        Self {
            model: turn.model,
            surface: turn.surface,
            journal: turn.journal,
            limits: turn.limits,
            halt,
            teller: Teller::new(events, halt.token().clone()),
            ids: Ids::of(&request.messages),
            before: request.messages.len(),
            request,
            usage: Usage::default(),
            rounds: 0,
            not_kept: None,
        }
    }

    /// Goes round until something ends the turn. Gives why, and what the model said last.
    pub(crate) async fn go(&mut self) -> (Stop, String) {
        if matches!(self.request.messages.last(), None | Some(Message::Assistant(_))) {
            return (Stop::Failed(TurnError::NothingToAnswer), String::new());
        }
        let mut limit = (self.limits.rounds == 0).then(|| self.rounds_limit());
        loop {
            if let Some(stop) = self.halt.stop().or(limit) {
                return (stop, String::new());
            }
            let round = self.rounds.saturating_add(1);
            self.teller.tell(Event::RoundStarted { round }).await;
            let mut reply = match self.ask().await {
                Ok(reply) => reply,
                Err(Broken { reply, error }) => {
                    // Whatever stopped the turn made the model fail.
                    let stop = self.halt.stop().unwrap_or(Stop::Failed(error.into()));
                    return (stop, self.break_off(*reply).await);
                }
            };
            self.rounds = round;
            self.count(reply.usage);
            strip_calls(&mut reply);
            let (usage, text, end) = (reply.usage, reply.text(), ended(&reply));
            let calls: Vec<ToolCall> = reply.tool_calls().cloned().collect();
            tracing::info!(
                round,
                calls = calls.len(),
                tokens = usage.total(),
                "the model answered"
            );
            self.keep_reply(reply).await;
            if calls.is_empty() {
                self.teller.tell(Event::RoundEnded { round, usage }).await;
                return (end, text);
            }
            let last = round >= self.limits.rounds;
            let results = if last {
                self.refuse(calls).await
            } else {
                self.carry_out(calls).await
            };
            let results = results.into_iter().map(Message::ToolResult);
            self.request.messages.extend(results);
            self.teller.tell(Event::RoundEnded { round, usage }).await;
            // A model that must call a tool in each round would never end.
            self.request.tool_choice = ToolChoice::Auto;
            limit = if last {
                Some(self.rounds_limit())
            } else {
                self.tokens_limit()
            };
        }
    }

    /// Puts the end together and tells it.
    pub(crate) async fn end(mut self, stop: Stop, text: String) -> TurnEnd {
        let stop = match self.not_kept.take() {
            Some(error) => Stop::Failed(error.into()),
            None => stop,
        };
        let end = TurnEnd {
            stop,
            text,
            messages: self.request.messages.split_off(self.before),
            usage: self.usage,
            rounds: self.rounds,
        };
        self.teller.tell(Event::Ended(Box::new(end.clone()))).await;
        self.teller.finish();
        end
    }

    /// Keeps what became of a call, and tells it.
    pub(crate) async fn settle(&mut self, call: ToolCall, answer: Answer, took_ms: u64) -> ToolResult {
        let (id, name) = (call.id.clone(), call.name.clone());
        self.keep(Kept::Result {
            call,
            answer: answer.clone(),
            took_ms,
        })
        .await;
        let ended = Event::CallEnded {
            id: id.clone(),
            name: name.clone(),
            answer: answer.clone(),
        };
        self.teller.tell(ended).await;
        ToolResult {
            call_id: id,
            name,
            text: answer.text,
            images: answer.images,
            is_error: answer.is_error,
        }
    }

    /// Answers calls for which there is no round left.
    async fn refuse(&mut self, calls: Vec<ToolCall>) -> Vec<ToolResult> {
        let rounds = self.limits.rounds;
        let answer = Answer::error(format!(
            "not run: the turn reached its limit of rounds ({rounds}, `maxRounds`)"
        ));
        let mut results = Vec::new();
        for call in calls {
            results.push(self.settle(call, answer.clone(), 0).await);
        }
        results
    }

    /// Keeps what there is of an answer that broke off.
    async fn break_off(&mut self, reply: Reply) -> String {
        self.count(reply.usage);
        let text = reply.text();
        if says_something(&reply.blocks) {
            self.keep_reply(reply).await;
        }
        text
    }

    async fn keep_reply(&mut self, reply: Reply) {
        let blocks = reply.blocks.clone();
        self.keep(Kept::Reply(Box::new(reply))).await;
        if says_something(&blocks) {
            self.request.messages.push(Message::Assistant(blocks));
        }
    }

    /// What cannot be kept ends the turn.
    async fn keep(&mut self, what: Kept) {
        if self.not_kept.is_some() {
            return;
        }
        if let Err(error) = self.journal.keep(what).await {
            tracing::warn!("{error}");
            self.not_kept = Some(error);
            self.halt.give_up();
        }
    }

    fn count(&mut self, usage: Usage) {
        let sum = &mut self.usage;
        sum.input = sum.input.saturating_add(usage.input);
        sum.output = sum.output.saturating_add(usage.output);
        sum.cache_read = sum.cache_read.saturating_add(usage.cache_read);
        sum.cache_write = sum.cache_write.saturating_add(usage.cache_write);
    }

    fn rounds_limit(&self) -> Stop {
        let rounds = self.limits.rounds;
        Stop::Limit(format!(
            "the turn reached its limit of rounds ({rounds}): raise `maxRounds` to allow more"
        ))
    }

    fn tokens_limit(&self) -> Option<Stop> {
        let (used, limit) = (self.usage.total(), self.limits.tokens?);
        (used >= limit).then(|| {
            Stop::Limit(format!(
                "the turn used {used} of {limit} tokens: raise `maxTurnTokens` to allow more"
            ))
        })
    }
}

/// How a turn ends with an answer that calls nothing.
fn ended(reply: &Reply) -> Stop {
    match &reply.stop {
        StopReason::Stop | StopReason::ToolUse => Stop::Done,
        StopReason::Length => Stop::Length,
        StopReason::Refused(reason) => Stop::Refused(reason.clone()),
    }
}
