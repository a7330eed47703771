use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::{Answer, Call, Request, Thrown};

/// A future that owns everything it needs.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send + 'static>>;

/// Answers a cell's questions and runs its calls. Catalog, policy, approval and audit sit behind this trait.
///
/// One host serves one run. [`query`](Self::query) is called on the guest's thread while the guest stands still.
/// The future of [`call`](Self::call) is polled once there as well, inside the caller's runtime, and ends there if it
/// needs no waiting; else it goes on on the caller's runtime. At most `max_running` calls are carried at a time.
pub trait ToolHost: Send + Sync + 'static {
    /// Answers a question at once, as JSON text.
    ///
    /// # Errors
    ///
    /// The guest sees the error as a rejected promise or as an exception.
    fn query(&self, question: &str) -> Result<String, Thrown>;

    /// Whether all of these calls may be repeated after a crash; asked for restart-safe cells before any of them
    /// is dispatched.
    ///
    /// # Errors
    ///
    /// The text that the cell fails with.
    fn check_replay(&self, requests: &[&Request]) -> Result<(), String>;

    /// Carries a call to its end. Never called with a timer or a yield.
    ///
    /// Must return soon after `cancel` fires; what it returns then is not delivered.
    fn call(self: Arc<Self>, call: Call, cancel: CancellationToken) -> BoxFuture<Outcome>;
}

/// How a call ended, and what the caller of the cell should know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the guest gets.
    pub answer: Answer,
    /// What the result tells beside the value, for example that an MCP tool said `isError`.
    pub warning: Option<Notice>,
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            warning: None,
        }
    }
}

/// Something a result mentions although the cell went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What kind of thing happened.
    pub kind: NoticeKind,
    /// The tool concerned, as the guest spelled it.
    pub tool: Option<String>,
    /// What happened.
    pub message: String,
    /// Position in the evaluated program, line and column from 1.
    pub position: Option<(u32, u32)>,
}

/// The kinds of [`Notice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// A call failed and nobody looked at its promise.
    UnawaitedFailure,
    /// A promise that is no call was rejected and nobody looked.
    UnhandledRejection,
    /// A tool reported an error inside a successful answer.
    ToolError,
    /// A result did not fit its declared schema.
    Contract,
    /// A call was still running when the program ended, and was cancelled.
    Cancelled,
}
