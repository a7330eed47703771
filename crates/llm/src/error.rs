use std::time::Duration;

use crate::Partial;

/// Why there is no whole answer.
///
/// A message of a provider is cut to 2000 characters and the key is taken out of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The provider's settings cannot be used: they are to be corrected.
    #[error("the provider's settings cannot be used: {0}")]
    Settings(String),
    /// The guard refused the body. Nothing was sent.
    #[error("{0}")]
    Guard(String),
    /// No attempt got an answer to begin with.
    #[error("the provider cannot be reached: {detail} (attempts: {attempts})")]
    Unreachable {
        /// The innermost cause of the last attempt.
        detail: String,
        /// How often it was tried.
        attempts: u32,
    },
    /// The provider answered with an error.
    #[error("the provider answered {status}: {message} (attempts: {attempts})")]
    Status {
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
        /// How long it asked to wait. It was not waited for if this is over [`crate::Retries::max_wait`].
        retry_after: Option<Duration>,
        /// How often it was tried.
        attempts: u32,
    },
    /// Nothing came for too long.
    #[error("the provider was silent for {} ms", waited.as_millis())]
    TimedOut {
        /// The limit that was reached.
        waited: Duration,
        /// What had arrived.
        partial: Box<Partial>,
    },
    /// The connection ended before the answer did.
    #[error("the answer broke off: {detail}")]
    Interrupted {
        /// What happened to it.
        detail: String,
        /// What had arrived.
        partial: Box<Partial>,
    },
    /// The answer does not follow the protocol.
    #[error("the provider's answer cannot be read: {detail}")]
    Malformed {
        /// What is wrong with it.
        detail: String,
        /// What had arrived.
        partial: Box<Partial>,
    },
    /// The provider gave up in the middle of the answer.
    #[error("the provider gave up: {message}")]
    Provider {
        /// What it said.
        message: String,
        /// What had arrived.
        partial: Box<Partial>,
    },
    /// The caller cancelled.
    #[error("the request was cancelled")]
    Cancelled {
        /// What had arrived.
        partial: Box<Partial>,
    },
}
