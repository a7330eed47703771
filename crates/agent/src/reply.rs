//! What is kept of an answer.

use codecell_llm::{Block, Error, Partial, Reply, StopReason};

/// An answer that broke off.
pub(crate) struct Broken {
    /// What there is of it, as an answer: its text alone, for reasoning may be cut and a call as well.
    pub(crate) reply: Box<Reply>,
    pub(crate) error: Error,
}

impl Broken {
    /// `told` is the text that had arrived, for an error that does not say.
    pub(crate) fn new(error: Error, told: &str) -> Self {
        let Partial { mut blocks, usage } = arrived(&error).cloned().unwrap_or_default();
        blocks.retain(|block| matches!(block, Block::Text(_)));
        if !says_something(&blocks) {
            blocks = vec![Block::Text(told.to_owned())];
        }
        let reply = Reply {
            id: None,
            model: None,
            blocks,
            stop: StopReason::Length,
            usage,
        };
        Self {
            reply: Box::new(reply),
            error,
        }
    }
}

fn arrived(error: &Error) -> Option<&Partial> {
    match error {
        Error::TimedOut { partial, .. }
        | Error::Interrupted { partial, .. }
        | Error::Malformed { partial, .. }
        | Error::Provider { partial, .. }
        | Error::Cancelled { partial } => Some(partial),
        _ => None,
    }
}

/// Takes the calls out of an answer that did not stop for them, and the reasoning that led to them: providers refuse
/// reasoning that nothing follows.
pub(crate) fn strip_calls(reply: &mut Reply) {
    if reply.stop == StopReason::ToolUse || reply.tool_calls().next().is_none() {
        return;
    }
    reply.blocks.retain(|block| !matches!(block, Block::ToolCall(_)));
    let is_text = |block: &Block| matches!(block, Block::Text(_));
    let last = reply.blocks.iter().rposition(is_text);
    reply.blocks.truncate(last.map_or(0, |last| last + 1));
}

/// Whether an answer can be sent again: providers refuse one that says nothing.
pub(crate) fn says_something(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match block {
        Block::Text(text) => !text.trim().is_empty(),
        Block::ToolCall(_) => true,
        Block::Thinking { .. } | Block::RedactedThinking(_) => false,
    })
}
