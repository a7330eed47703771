use std::{fmt, sync::Arc, time::Duration};

use serde_json::value::RawValue;

use super::state::State;

/// What a request was doing when its connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before the request could be sent: it certainly had no effect.
    Sending,
    /// After it was sent and before it was answered.
    Waiting,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sending => "before the request was sent",
            Self::Waiting => "while the request was running",
        })
    }
}

/// What kind of message was too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// Ours to the server: nothing was sent.
    Request,
    /// The server's: the call happened and its result is lost.
    Answer,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request => "request",
            Self::Answer => "answer",
        })
    }
}

/// Why a request to an MCP server has no result.
///
/// A tool's own failure (`isError`) is a result, not an error.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No server of that name is configured: the caller misspelt it.
    #[error("no MCP server is named `{server}`; known servers: {}", known_names(known))]
    UnknownServer {
        /// The name asked for.
        server: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The user's `allow` and `deny` lists exclude the tool: nothing was sent.
    #[error("tool `{tool}` of MCP server `{server}` is excluded by its `allow` or `deny` list")]
    Excluded {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The server cannot take calls now; the state says whether waiting helps. Nothing was sent.
    #[error("MCP server `{server}` is not available: {state}")]
    NotReady {
        /// The server.
        server: String,
        /// Its state.
        state: State,
    },
    /// The server wants credentials it did not get. Nothing ran.
    #[error(
        "MCP server `{server}` refused the request with HTTP {status}: it needs a valid token, set one in its `headers`{}",
        quoted(": ", detail)
    )]
    NeedsAuth {
        /// The server.
        server: String,
        /// 401 or 403.
        status: u16,
        /// What the server says it wants.
        detail: String,
    },
    /// The connection ended. With `in_doubt` the effect may have happened: look before repeating.
    #[error("MCP server `{server}` {reason} {phase} (`{method}`){}{}", doubt(*in_doubt), stderr_tail(stderr))]
    Disconnected {
        /// The server.
        server: String,
        /// The method asked for.
        method: String,
        /// When in the life of the request.
        phase: Phase,
        /// How it ended, as in `exited with status 3`.
        reason: String,
        /// The last lines the server wrote to its standard error.
        stderr: String,
        /// Whether the call may have had an effect.
        in_doubt: bool,
    },
    /// The server does not read what it is sent, and this still waited behind it. Nothing was sent, so nothing ran.
    #[error(
        "MCP server `{server}` does not read its input, where {waiting} bytes wait: `{method}` was not sent; it may be busy, \
         so try again later, and end its process if it stays like this, since it is started anew then"
    )]
    Unread {
        /// The server.
        server: String,
        /// The method asked for.
        method: String,
        /// The bytes that wait to be read.
        waiting: u64,
    },
    /// No answer in time; the server was told to stop.
    #[error("MCP server `{server}` did not answer `{method}` within {} ms; it was told to cancel", limit.as_millis())]
    TimedOut {
        /// The server.
        server: String,
        /// The method asked for.
        method: String,
        /// The limit that passed.
        limit: Duration,
    },
    /// The caller gave up; the server was told to stop.
    #[error("`{method}` to MCP server `{server}` was cancelled")]
    Cancelled {
        /// The server.
        server: String,
        /// The method asked for.
        method: String,
    },
    /// A message over the size limit.
    #[error(
        "the {message} for `{method}` of MCP server `{server}` has {actual} bytes, at most {limit} are taken"
    )]
    TooLarge {
        /// The server.
        server: String,
        /// The method asked for.
        method: String,
        /// Which direction.
        message: Message,
        /// Its size.
        actual: u64,
        /// The limit.
        limit: u64,
    },
    /// The server answered with a JSON-RPC error.
    #[error("MCP server `{server}` refused `{method}`: {message} (code {code})")]
    Rpc {
        /// The server.
        server: String,
        /// The method asked for.
        method: String,
        /// The JSON-RPC code.
        code: i64,
        /// The server's words.
        message: String,
        /// The server's details, as sent.
        data: Option<Arc<RawValue>>,
    },
    /// The server answered with an HTTP error that holds no JSON-RPC message.
    #[error(
        "MCP server `{server}` answered `{method}` with HTTP {status}{}",
        quoted(": ", body)
    )]
    Http {
        /// The server.
        server: String,
        /// The method asked for.
        method: String,
        /// The status.
        status: u16,
        /// The head of the body.
        body: String,
    },
    /// The server asked its user a question and nobody can be asked here.
    #[error("MCP server `{server}` asks for input during `{method}` ({asked}), and there is nobody to ask")]
    InputRequired {
        /// The server.
        server: String,
        /// The method asked for.
        method: String,
        /// The kinds of question.
        asked: String,
    },
    /// The answer is not what the protocol says.
    #[error("MCP server `{server}` answered `{method}` with something that is no MCP result: {reason}")]
    Malformed {
        /// The server.
        server: String,
        /// The method asked for.
        method: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl CallError {
    /// Whether the request may have had an effect although it has no result.
    #[must_use]
    pub fn in_doubt(&self) -> bool {
        match self {
            Self::Disconnected { in_doubt, .. } => *in_doubt,
            Self::TimedOut { .. } | Self::Cancelled { .. } | Self::Malformed { .. } => true,
            Self::TooLarge { message, .. } => *message == Message::Answer,
            _ => false,
        }
    }
}

fn known_names(known: &[String]) -> String {
    const SHOWN: usize = 20;
    if known.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = known.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if known.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn quoted(lead: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{lead}{text}")
    }
}

fn doubt(in_doubt: bool) -> &'static str {
    if in_doubt {
        "; its effect is in doubt, so check before repeating it"
    } else {
        ""
    }
}

fn stderr_tail(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!("; last lines on its stderr:\n{stderr}")
    }
}
