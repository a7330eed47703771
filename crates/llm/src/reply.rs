use crate::{Block, ToolCall};

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The provider's id of it.
    pub id: Option<String>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// What it said.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
}

impl Reply {
    /// The text, without reasoning and calls.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The calls, in order. To be run only when it stopped for [`StopReason::ToolUse`]: otherwise the last one may
    /// have been cut.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model was done.
    Stop,
    /// It reached the limit of tokens.
    Length,
    /// It waits for the results of its calls.
    ToolUse,
    /// The provider or the model refused to go on, for this reason in the provider's words.
    Refused(String),
}

/// Tokens of one answer. A provider that does not count leaves zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Read anew, without those from the cache.
    pub input: u64,
    /// Written, reasoning included.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Put into the provider's cache.
    pub cache_write: u64,
}

impl Usage {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        [self.output, self.cache_read, self.cache_write]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }
}

/// What arrived before an answer broke off. The last block may be cut, the arguments of a call in particular.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partial {
    /// What the model had said.
    pub blocks: Vec<Block>,
    /// What the provider had counted.
    pub usage: Usage,
}

/// A step of an answer that is still arriving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// More words.
    Text(String),
    /// More reasoning.
    Thinking(String),
    /// A call begins.
    ToolCallStarted {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of the arguments of a call that began.
    ToolCallArguments {
        /// Its id.
        id: String,
        /// The next piece of the text.
        fragment: String,
    },
    /// The answer is complete. Nothing follows.
    Done(Reply),
}
