use std::future::Future;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::{Call, Cell, Output, Reply, Report, Thrown};

/// The host's side of the wall while guest code runs: called on the guest's thread, so every method returns at
/// once.
///
/// All text comes from a hostile program. Nothing here may block, and nothing here may panic.
pub trait WallHost: Send + 'static {
    /// Answers a question that needs no waiting: search, describe, virtual files, the shape of a namespace.
    ///
    /// # Errors
    ///
    /// The error is thrown at the place that asked.
    fn query(&mut self, question: &str) -> Result<String, Thrown>;

    /// Takes a request whose answer comes later through [`Guest::settle`].
    ///
    /// # Errors
    ///
    /// The call is refused and its promise is rejected with the error.
    fn call(&mut self, call: Call) -> Result<(), Thrown>;

    /// Withdraws an earlier request, as `clearTimeout` does. Its answer, if one comes, is dropped by the guest.
    fn withdraw(&mut self, id: crate::CallId);

    /// Appends to the cell's output.
    ///
    /// # Errors
    ///
    /// [`OutputFull`] ends the VM with [`Fault::Output`]: the guest cannot catch it.
    fn output(&mut self, output: Output) -> Result<(), OutputFull>;

    /// Notes output that can never fit, so that the guest did not write all of it: the head of a text, or nothing, and
    /// how many bytes there are beyond it at least. The VM ends with [`Fault::Output`].
    fn overflow(&mut self, head: String, more: usize);
}

/// The output budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputFull;

/// When a guest has to stop, whatever it is doing.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The end of the wall-clock budget.
    pub deadline: Instant,
    /// Fires when the caller no longer wants the result.
    pub cancel: CancellationToken,
}

/// Why a VM ended without a report. The VM is gone in every case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The deadline passed while guest code ran.
    #[error("the time limit was reached while the program was running")]
    Deadline,
    /// The caller cancelled.
    #[error("the program was cancelled")]
    Cancelled,
    /// The VM asked for more memory than it may have.
    #[error("memory limit exceeded ({limit} bytes)")]
    Memory {
        /// The limit in bytes.
        limit: usize,
    },
    /// The host refused further output.
    #[error("the output limit was reached")]
    Output,
    /// The engine failed in a way that no program should be able to cause.
    #[error("the guest engine failed: {0}")]
    Engine(String),
}

/// A live VM that holds one cell.
///
/// The engine is behind this trait so that the drain loop neither knows nor links it. After a [`Fault`] the VM
/// must not be used again; callers drop it.
pub trait Guest: Send + Sized {
    /// Starts the cell and runs until it has nothing left to do.
    fn eval(&mut self, cell: &Cell, stop: &Stop) -> impl Future<Output = Result<Report, Fault>> + Send;

    /// Delivers answers, in order, and runs until nothing is left to do.
    fn settle(
        &mut self,
        replies: &[Reply],
        stop: &Stop,
    ) -> impl Future<Output = Result<Report, Fault>> + Send;

    /// The rejections that nobody handled so far, oldest first, bounded in number.
    fn unhandled(&mut self, stop: &Stop) -> impl Future<Output = Result<Vec<Thrown>, Fault>> + Send;
}
