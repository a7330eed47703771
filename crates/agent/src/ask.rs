use std::pin::pin;

use codecell_llm::{Block, Error, Event as Said, Reply, StopReason, ToolCall};
use serde_json::Value;

use crate::event::Event;
use crate::reply::Broken;
use crate::run::Run;

impl Run<'_> {
    /// Asks the model once and tells what it says. The ids of the calls in the answer are unique in the conversation.
    pub(crate) async fn ask(&mut self) -> Result<Reply, Broken> {
        let (model, surface, halt) = (self.model.clone(), self.surface.clone(), self.halt);
        let api = model.api();
        let guard = move |body: &mut Value| surface.check_payload(api, body);
        // A model that does not stop when it is told to is left alone.
        let mut grace = pin!(halt.grace());
        let cancelled = || Error::Cancelled {
            partial: Box::default(),
        };

        let asked = tokio::select! {
            biased;
            () = &mut grace => Err(cancelled()),
            // Telling that the round starts may have taken until now.
            () = std::future::ready(()), if halt.token().is_cancelled() => Err(cancelled()),
            asked = model.ask(&self.request, &guard, halt.token()) => asked,
        };
        let mut stream = asked.map_err(|error| Broken::new(error, ""))?;
        let mut told = String::new();
        let mut started = Vec::new();
        loop {
            let next = tokio::select! {
                biased;
                () = &mut grace => Some(Err(cancelled())),
                next = stream.next() => next,
            };
            let next = next.unwrap_or_else(|| {
                Err(Error::Interrupted {
                    detail: "it ended without a last word".to_owned(),
                    partial: Box::default(),
                })
            });
            match next.map_err(|error| Broken::new(error, &told))? {
                Said::Text(text) => {
                    told.push_str(&text);
                    self.teller.tell(Event::Text(text)).await;
                }
                Said::Thinking(text) => self.teller.tell(Event::Thinking(text)).await,
                Said::ToolCallStarted { id, name } => {
                    let free = self.start(&id, &name).await;
                    started.push((id, free));
                }
                Said::ToolCallArguments { .. } => {}
                Said::Done(mut reply) => {
                    self.name_calls(&mut reply, started).await;
                    return Ok(reply);
                }
            }
        }
    }

    /// Gives the calls of an answer the ids under which they were told of. Those of which nobody told are told now.
    async fn name_calls(&mut self, reply: &mut Reply, mut started: Vec<(String, String)>) {
        if reply.stop != StopReason::ToolUse {
            return;
        }
        for block in &mut reply.blocks {
            let Block::ToolCall(ToolCall { id, name, .. }) = block else {
                continue;
            };
            *id = match started.iter().position(|(said, _)| said == id) {
                Some(at) => started.remove(at).1,
                None => self.start(id, name).await,
            };
        }
    }

    async fn start(&mut self, id: &str, name: &str) -> String {
        let id = self.ids.take(id);
        let name = name.to_owned();
        let started = Event::CallStarted { id: id.clone(), name };
        self.teller.tell(started).await;
        id
    }
}
