use std::fmt;
use std::pin::Pin;

use codecell_llm::{Api, Image, Tool};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// A future on the heap that may move between threads.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The tools of one turn, as the model sees them. What is behind them is the surface's own business: a catalog
/// behind two tools, or every tool for itself.
pub trait ToolSurface: Send + Sync + 'static {
    /// The tools that the model is told of. The same for the whole turn.
    fn tools(&self) -> Vec<Tool>;

    /// The last look at a request body of wire format `api` before it leaves; it may take something out of it.
    ///
    /// # Errors
    ///
    /// A text that says what is wrong. Nothing is sent then and the turn fails.
    fn check_payload(&self, api: Api, body: &mut Value) -> Result<(), String>;

    /// Whether calls of this tool must not run beside others. One such call makes its whole batch run in order.
    fn is_sequential(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Carries out a call. Only tools that [`tools`](Self::tools) names are called.
    ///
    /// Return soon after the call's `cancel` fires. A call that then still runs is dropped after two seconds, one that
    /// waits for the application at once.
    fn call(&self, call: SurfaceCall) -> BoxFuture<Step>;
}

/// A call that the model makes.
#[derive(Clone, Debug)]
pub struct SurfaceCall {
    /// Names the call: unique in the conversation.
    pub id: String,
    /// The tool, as the model sees it.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// Fires when nobody wants the answer any more.
    pub cancel: CancellationToken,
}

/// How far a call got.
#[derive(Debug)]
#[must_use]
pub enum Step {
    /// It is done.
    Done(Answer),
    /// It cannot go on before the application that asked for the turn has run tools of its own.
    Suspended(Suspended),
}

/// What the model gets for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it reads.
    pub text: String,
    /// What it sees.
    pub images: Vec<Image>,
    /// Whether the call failed.
    pub is_error: bool,
}

impl Answer {
    /// The answer of a call that went well.
    #[must_use]
    pub fn ok(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            images: Vec::new(),
            is_error: false,
        }
    }

    /// The answer of a call that failed. The text says what to do about it.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            images: Vec::new(),
            is_error: true,
        }
    }
}

/// A call that waits for the application.
pub struct Suspended {
    /// What the application has to run, in the order in which it was asked for. Never empty.
    pub calls: Vec<ClientCall>,
    /// Goes on: ends when the call is done, or waits for the application again. It waits itself for the answers,
    /// which reach the surface on a way of its own.
    pub resume: BoxFuture<Step>,
}

impl fmt::Debug for Suspended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suspended")
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

/// A call of a tool that the application has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCall {
    /// Names the call; unique in the process and not to be guessed.
    pub id: String,
    /// The tool, as the application named it.
    pub name: String,
    /// The arguments, the text of a JSON object.
    pub arguments: String,
}
