//! A model that follows a script.

use std::collections::VecDeque;
use std::sync::Mutex;

use codecell_agent::{Arriving, Asking, Model, ModelStream};
use codecell_llm::{
    Api, Block, Delivery, Error, Event, Guard, Partial, Reply, Request, StopReason, ToolCall, Usage, encode,
};
use tokio_util::sync::CancellationToken;

use crate::world::Log;

/// What every answer costs.
pub(crate) const COST: Usage = Usage {
    input: 7,
    output: 2,
    cache_read: 1,
    cache_write: 0,
};

/// One answer: what is said, and how it ends.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    blocks: Vec<Block>,
    end: End,
}

#[derive(Clone, Debug)]
enum End {
    Done(StopReason),
    /// Says no more until it is cancelled.
    Held,
    /// Says no more, cancelled or not.
    Deaf,
    /// The connection is lost. The error knows what had arrived.
    Lost,
    /// The stream is at its end without having said so.
    Silent,
}

pub(crate) fn nothing() -> Answer {
    Answer {
        blocks: Vec::new(),
        end: End::Done(StopReason::Stop),
    }
}

pub(crate) fn says(text: &str) -> Answer {
    nothing().text(text)
}

pub(crate) fn thinks(text: &str) -> Answer {
    nothing().thinks(text)
}

pub(crate) fn calls(id: &str, name: &str) -> Answer {
    nothing().call(id, name)
}

impl Answer {
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    pub(crate) fn thinks(mut self, text: &str) -> Self {
        self.blocks.push(Block::Thinking {
            text: text.into(),
            signature: None,
        });
        self
    }

    pub(crate) fn call(self, id: &str, name: &str) -> Self {
        self.call_with(id, name, "{}")
    }

    pub(crate) fn call_with(mut self, id: &str, name: &str, arguments: &str) -> Self {
        self.blocks.push(Block::ToolCall(ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            signature: None,
        }));
        self.end = End::Done(StopReason::ToolUse);
        self
    }

    pub(crate) fn stops(self, stop: StopReason) -> Self {
        self.ends(End::Done(stop))
    }

    pub(crate) fn held(self) -> Self {
        self.ends(End::Held)
    }

    pub(crate) fn deaf(self) -> Self {
        self.ends(End::Deaf)
    }

    pub(crate) fn lost(self) -> Self {
        self.ends(End::Lost)
    }

    pub(crate) fn silent(self) -> Self {
        self.ends(End::Silent)
    }

    fn ends(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// Gives its answers one after the other, and has no more to say afterwards.
pub(crate) struct Script {
    answers: Mutex<VecDeque<Answer>>,
    /// Whether it tells of calls before they are complete.
    tells_calls: bool,
    log: Log,
}

impl Script {
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>, tells_calls: bool, log: Log) -> Self {
        Self {
            answers: Mutex::new(answers.into_iter().collect()),
            tells_calls,
            log,
        }
    }
}

impl Model for Script {
    fn api(&self) -> Api {
        Api::AnthropicMessages
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        guard: &'a Guard<'a>,
        cancel: &'a CancellationToken,
    ) -> Asking<'a> {
        Box::pin(async move {
            let mut body = encode(self.api(), request, Delivery::Streamed);
            guard(&mut body).map_err(Error::Guard)?;
            self.log
                .push(format!("asked with {}", body["tool_choice"]["type"]));
            let answer = self.answers.lock().unwrap().pop_front().unwrap_or_else(nothing);
            Ok(Box::new(Saying {
                events: events(&answer.blocks, self.tells_calls),
                answer: Some(answer),
                cancel: cancel.clone(),
                log: self.log.clone(),
            }) as Box<dyn ModelStream>)
        })
    }
}

fn events(blocks: &[Block], tells_calls: bool) -> VecDeque<Event> {
    let events = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(Event::Text(text.clone())),
        Block::Thinking { text, .. } => Some(Event::Thinking(text.clone())),
        Block::ToolCall(call) if tells_calls => Some(Event::ToolCallStarted {
            id: call.id.clone(),
            name: call.name.clone(),
        }),
        _ => None,
    });
    events.collect()
}

struct Saying {
    events: VecDeque<Event>,
    answer: Option<Answer>,
    cancel: CancellationToken,
    log: Log,
}

impl ModelStream for Saying {
    fn next(&mut self) -> Arriving<'_> {
        Box::pin(async move {
            if let Some(event) = self.events.pop_front() {
                self.log.push("said");
                return Some(Ok(event));
            }
            let Answer { blocks, end } = self.answer.take()?;
            let partial = Box::new(Partial {
                blocks: blocks.clone(),
                usage: COST,
            });
            match end {
                End::Done(stop) => Some(Ok(Event::Done(Reply {
                    id: None,
                    model: None,
                    blocks,
                    stop,
                    usage: COST,
                }))),
                End::Held => {
                    self.log.push("holds on");
                    self.cancel.cancelled().await;
                    Some(Err(Error::Cancelled { partial }))
                }
                End::Deaf => {
                    self.log.push("holds on");
                    std::future::pending().await
                }
                End::Lost => Some(Err(Error::Interrupted {
                    detail: "reset".into(),
                    partial,
                })),
                End::Silent => None,
            }
        })
    }
}
