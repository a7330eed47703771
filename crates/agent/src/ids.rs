use std::collections::HashSet;

use codecell_llm::{Block, Message};

/// The ids of calls that are taken. A provider wants each call to have one result, and some models count their calls
/// from nought in every answer.
pub(crate) struct Ids(HashSet<String>);

impl Ids {
    /// Those of a conversation.
    pub(crate) fn of(messages: &[Message]) -> Self {
        let blocks = messages.iter().filter_map(|message| match message {
            Message::Assistant(blocks) => Some(blocks),
            _ => None,
        });
        let ids = blocks.flatten().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        });
        Self(ids.collect())
    }

    /// Takes `id`, or one that is like it if it is taken.
    pub(crate) fn take(&mut self, id: &str) -> String {
        let id = if id.is_empty() { "call" } else { id };
        let mut free = id.to_owned();
        let mut number = 2_u64;
        while !self.0.insert(free.clone()) {
            free = format!("{id}_{number}");
            number += 1;
        }
        free
    }
}
