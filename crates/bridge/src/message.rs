use serde::{Deserialize, Serialize};

use crate::Json;

/// Names one request of a guest within its run. Chosen by the guest, never reused by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u32);

/// What a guest asks the host to do while the guest waits (or goes on with something else).
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The name under which the answer is delivered.
    pub id: CallId,
    /// What is asked for.
    pub request: Request,
    /// Line of the call in the evaluated program, from 1; absent when the engine could not tell.
    pub line: Option<u32>,
    /// Column of the call in the evaluated program, from 1.
    pub column: Option<u32>,
}

/// The kinds of request that are answered later.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// `tools.call(id, input)`: the raw envelope `{ tool, result }`.
    Call {
        /// What the guest passed as id; hostile text.
        target: String,
        /// The argument as JSON; absent when none was given.
        args: Option<Json>,
    },
    /// `tools.callValue(id, input)` and the convenience functions: the structured value alone.
    CallValue {
        /// What the guest passed as id; hostile text.
        target: String,
        /// The argument as JSON; absent when none was given.
        args: Option<Json>,
    },
    /// A function of a namespace, `MCP.server.tool({...})` included.
    Namespace {
        /// Global name first, then one segment a level.
        path: Vec<String>,
        /// All arguments, in order.
        args: Vec<Json>,
    },
    /// `setTimeout`: answered with `null` when the delay is over.
    Timer {
        /// The delay in milliseconds.
        ms: f64,
    },
    /// `yield_control(reason)`: answered when the run is resumed.
    Yield {
        /// What the program said of it, bounded by the guest.
        reason: Option<String>,
    },
}

impl Request {
    /// The method's name in results: `call`, `callValue`, `namespace`, `timer`, `yield`.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Call { .. } => "call",
            Self::CallValue { .. } => "callValue",
            Self::Namespace { .. } => "namespace",
            Self::Timer { .. } => "timer",
            Self::Yield { .. } => "yield",
        }
    }

    /// The tool that is asked for, as the guest spelled it; none for timers and yields.
    #[must_use]
    pub fn target(&self) -> Option<String> {
        match self {
            Self::Call { target, .. } | Self::CallValue { target, .. } => Some(target.clone()),
            Self::Namespace { path, .. } => Some(path.join(".")),
            Self::Timer { .. } | Self::Yield { .. } => None,
        }
    }
}

/// The answer to one [`Call`].
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The call that is answered.
    pub id: CallId,
    /// Its answer.
    pub answer: Answer,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The promise is fulfilled with this value.
    Ok(Json),
    /// The promise is rejected with a fresh `Error` made from this.
    Error(Thrown),
}

/// An error as it crosses the wall, in both directions: plain data, never a host object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thrown {
    /// The error's `name`, for example `TypeError`; `Error` when nothing else is known.
    #[serde(default)]
    pub name: String,
    /// The error's `message`.
    #[serde(default)]
    pub message: String,
    /// A stable machine-readable code, where the thrower has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Structured details, where the thrower has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
    /// Where it was thrown, innermost first; positions are those of the evaluated program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
}

impl Thrown {
    /// An `Error` with a message and a code.
    #[must_use]
    pub fn error(code: &str, message: impl Into<String>) -> Self {
        Self {
            name: "Error".into(),
            message: message.into(),
            code: Some(code.into()),
            ..Self::default()
        }
    }

    /// A `TypeError` with a message.
    #[must_use]
    pub fn type_error(message: impl Into<String>) -> Self {
        Self {
            name: "TypeError".into(),
            message: message.into(),
            ..Self::default()
        }
    }
}

/// One line of a guest's stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function's name; empty for anonymous functions and for the cell's own body.
    #[serde(default)]
    pub function: String,
    /// Line in the evaluated program, from 1.
    pub line: u32,
    /// Column in the evaluated program, from 1.
    pub column: u32,
}

/// The program of one cell, as the engine gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The body of an async function; checked by the caller so that it cannot close its wrapper.
    pub code: String,
    /// Seeds `Math.random` and `crypto.randomUUID`; fresh for every run.
    pub seed: [u64; 2],
    /// Budget of each result in bytes. The guest does not write out what is far beyond it, and [reports] it instead.
    ///
    /// [reports]: crate::WallHost::overflow
    pub output_bytes: usize,
}

/// What a guest looks like when it has nothing left to do for now.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The program waits for answers (or for nothing at all, if nothing is outstanding).
    Pending,
    /// The program returned; told once, at the first report after it did.
    Completed {
        /// The returned value.
        value: Json,
    },
    /// The program threw; told once.
    Failed {
        /// What it threw.
        error: Thrown,
    },
    /// The program ended earlier; code that it left behind has run.
    Idle,
}

/// An entry of the cell's output.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Output {
    /// Made by `text` and by `console`.
    Text {
        /// The text.
        text: String,
    },
    /// Made by `json`.
    Json {
        /// The value.
        value: Json,
    },
}

#[cfg(test)]
mod tests {
    use super::Output;
    use crate::Json;

    #[test]
    fn output_keeps_its_values_exact() {
        let big = Json::parse("123456789012345678901234567890").unwrap();
        assert_eq!(
            serde_json::to_string(&Output::Json { value: big }).unwrap(),
            r#"{"type":"json","value":123456789012345678901234567890}"#
        );
    }
}
