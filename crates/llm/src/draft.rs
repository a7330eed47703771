//! An answer under construction.

use uuid::Uuid;

use crate::{Api, Block, Event, Partial, Reply, Signature, StopReason, ToolCall, Usage};

/// Which block of the answer a fragment belongs to, in the provider's own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Text(u64),
    Thinking(u64),
    Call(u64),
}

/// Puts fragments together, and tells of each.
#[derive(Debug)]
pub(crate) struct Draft {
    api: Api,
    /// The model that was asked, for signatures.
    asked: String,
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Usage,
    blocks: Vec<(Slot, Block)>,
    events: Vec<Event>,
}

impl Draft {
    pub(crate) fn new(api: Api, asked: &str) -> Self {
        Self {
            api,
            asked: asked.to_owned(),
            id: None,
            model: None,
            usage: Usage::default(),
            blocks: Vec::new(),
            events: Vec::new(),
        }
    }

    pub(crate) fn text(&mut self, index: u64, fragment: &str) {
        if fragment.is_empty() {
            return;
        }
        let slot = Slot::Text(index);
        if let Block::Text(text) = self.block(slot, || Block::Text(String::new())) {
            text.push_str(fragment);
        }
        self.events.push(Event::Text(fragment.to_owned()));
    }

    pub(crate) fn thinking(&mut self, index: u64, fragment: &str) {
        if fragment.is_empty() {
            return;
        }
        if let Block::Thinking { text, .. } = self.thought(index) {
            text.push_str(fragment);
        }
        self.events.push(Event::Thinking(fragment.to_owned()));
    }

    /// A further piece of the signature of some reasoning.
    pub(crate) fn thinking_signature(&mut self, index: u64, fragment: &str) {
        if fragment.is_empty() {
            return;
        }
        let fresh = self.sign("");
        if let Block::Thinking { signature, .. } = self.thought(index) {
            signature.get_or_insert(fresh).value.push_str(fragment);
        }
    }

    pub(crate) fn redacted_thinking(&mut self, index: u64, value: &str) {
        let sealed = Block::RedactedThinking(self.sign(value));
        self.blocks.push((Slot::Thinking(index), sealed));
    }

    /// A call begins. Said twice of one call, the second time changes nothing.
    pub(crate) fn call(&mut self, index: u64, id: Option<&str>, name: &str) {
        if self.has_call(index) {
            return;
        }
        let id = id
            .filter(|id| !id.is_empty() && self.calls().all(|call| call.id != *id))
            .map_or_else(made_up_id, ToOwned::to_owned);
        self.events.push(Event::ToolCallStarted {
            id: id.clone(),
            name: name.to_owned(),
        });
        let call = ToolCall {
            id,
            name: name.to_owned(),
            arguments: String::new(),
            signature: None,
        };
        self.blocks.push((Slot::Call(index), Block::ToolCall(call)));
    }

    /// More of the arguments of a call; `false` when there is no such call.
    pub(crate) fn arguments(&mut self, index: u64, fragment: &str) -> bool {
        let Some(call) = self.call_mut(index) else {
            return false;
        };
        if !fragment.is_empty() {
            call.arguments.push_str(fragment);
            let event = Event::ToolCallArguments {
                id: call.id.clone(),
                fragment: fragment.to_owned(),
            };
            self.events.push(event);
        }
        true
    }

    /// The whole arguments, for a provider that repeats them at the end: what is missing is added.
    ///
    /// `false` when there is no such call, or when it had been told something else.
    pub(crate) fn all_arguments(&mut self, index: u64, whole: &str) -> bool {
        let rest = self
            .call_mut(index)
            .and_then(|call| whole.strip_prefix(call.arguments.as_str()));
        rest.is_some_and(|rest| self.arguments(index, rest))
    }

    pub(crate) fn call_signature(&mut self, index: u64, value: &str) {
        let signed = self.sign(value);
        if let Some(call) = self.call_mut(index) {
            call.signature = Some(signed);
        }
    }

    pub(crate) fn has_call(&mut self, index: u64) -> bool {
        self.call_mut(index).is_some()
    }

    pub(crate) fn has_text(&self, index: u64) -> bool {
        self.blocks.iter().any(|(slot, _)| *slot == Slot::Text(index))
    }

    pub(crate) fn has_thinking(&self, index: u64) -> bool {
        self.blocks.iter().any(|(slot, _)| *slot == Slot::Thinking(index))
    }

    pub(crate) fn last(&self) -> Option<Slot> {
        self.blocks.last().map(|(slot, _)| *slot)
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.calls().next().is_some()
    }

    pub(crate) fn len(&self) -> u64 {
        self.blocks.len() as u64
    }

    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    pub(crate) fn partial(&mut self) -> Box<Partial> {
        Box::new(Partial {
            blocks: self.take_blocks(),
            usage: self.usage,
        })
    }

    pub(crate) fn finish(&mut self, stop: StopReason) -> Reply {
        Reply {
            id: self.id.take(),
            model: self.model.take(),
            blocks: self.take_blocks(),
            stop,
            usage: self.usage,
        }
    }

    fn take_blocks(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.blocks)
            .into_iter()
            .map(|(_, block)| block)
            .collect()
    }

    fn sign(&self, value: &str) -> Signature {
        Signature {
            api: self.api,
            model: self.asked.clone(),
            value: value.to_owned(),
        }
    }

    fn thought(&mut self, index: u64) -> &mut Block {
        self.block(Slot::Thinking(index), || Block::Thinking {
            text: String::new(),
            signature: None,
        })
    }

    /// The newest block of this slot. Searched from the end, where fragments nearly always belong.
    fn block(&mut self, slot: Slot, new: impl FnOnce() -> Block) -> &mut Block {
        let at = self.blocks.iter().rposition(|(other, _)| *other == slot);
        let at = at.unwrap_or_else(|| {
            self.blocks.push((slot, new()));
            self.blocks.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "found or pushed just above")]
        &mut self.blocks[at].1
    }

    fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|(_, block)| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    fn call_mut(&mut self, index: u64) -> Option<&mut ToolCall> {
        let (_, block) = self
            .blocks
            .iter_mut()
            .rfind(|(slot, _)| *slot == Slot::Call(index))?;
        match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        }
    }
}

/// An id for a call that came without one of its own. Not a number: calls of other replies stand beside it in a
/// conversation.
fn made_up_id() -> String {
    format!("call_{}", Uuid::new_v4().simple())
}
