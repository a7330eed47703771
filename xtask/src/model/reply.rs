//! What a model can be told to answer.

use serde_json::Value;

/// Characters in one delta: short, so that words and escapes are torn apart.
const PIECE: usize = 7;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A turn, delivered as the request asks for it.
    Turn(Turn),
    /// A turn in frames that are right and awkward: CRLF, comments, no space after colons, torn at odd bytes.
    Awkward(Turn),
    /// A turn whose connection is closed after as many frames.
    Cut(Turn, usize),
    /// A turn that stops after as many frames and waits until the client goes.
    Stalled(Turn, usize),
    /// An error status in the provider's own words.
    Refused {
        status: u16,
        retry_after: Option<&'static str>,
        message: &'static str,
    },
    /// A success that is neither JSON nor a stream of events.
    Garbage,
    /// Nothing, until the client goes.
    Hang,
}

impl Reply {
    /// A turn that says this and ends.
    pub(crate) fn text(text: impl Into<String>) -> Reply {
        Reply::Turn(Turn::text(text))
    }

    /// A turn that calls one tool.
    pub(crate) fn call(name: impl Into<String>, arguments: Value) -> Reply {
        Reply::Turn(Turn::calls([Call::new(name, arguments)]))
    }

    /// An error status without more.
    pub(crate) fn refused(status: u16, message: &'static str) -> Reply {
        Reply::Refused {
            status,
            retry_after: None,
            message,
        }
    }
}

/// What a model says in one answer: text, then calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turn {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
}

impl Turn {
    pub(crate) fn text(text: impl Into<String>) -> Turn {
        Turn {
            text: text.into(),
            calls: Vec::new(),
        }
    }

    pub(crate) fn calls(calls: impl IntoIterator<Item = Call>) -> Turn {
        Turn {
            text: String::new(),
            calls: calls.into_iter().collect(),
        }
    }

    /// Tokens of the answer, made up from its length so that they add up to something.
    pub(super) fn tokens(&self) -> usize {
        let calls: usize = self.calls.iter().map(|call| call.text().len()).sum();
        1 + self.text.len() + calls
    }
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Where the tool list has namespaces, the one of this tool.
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    arguments: Arguments,
}

#[derive(Debug, Clone)]
enum Arguments {
    Value(Value),
    /// Text that need not be JSON.
    Raw(String),
}

impl Call {
    pub(crate) fn new(name: impl Into<String>, arguments: Value) -> Call {
        Call {
            namespace: None,
            name: name.into(),
            arguments: Arguments::Value(arguments),
        }
    }

    /// A call whose arguments are this text as it is.
    pub(crate) fn raw(name: impl Into<String>, arguments: impl Into<String>) -> Call {
        Call {
            namespace: None,
            name: name.into(),
            arguments: Arguments::Raw(arguments.into()),
        }
    }

    /// The arguments as text.
    pub(super) fn text(&self) -> String {
        match &self.arguments {
            Arguments::Value(value) => value.to_string(),
            Arguments::Raw(text) => text.clone(),
        }
    }

    /// The arguments as a value: text that is no JSON is a string.
    pub(super) fn value(&self) -> Value {
        match &self.arguments {
            Arguments::Value(value) => value.clone(),
            Arguments::Raw(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
            }
        }
    }
}

/// `text` in deltas; an empty text has none.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(PIECE)
        .map(|piece| piece.iter().collect())
        .collect()
}
