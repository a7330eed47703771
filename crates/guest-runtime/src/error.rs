use codecell_bridge::Fault;

/// Why no engine could be made: nothing can run in this process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The WebAssembly engine refused its configuration or the guest's bytes.
    #[error("the guest engine could not be made: {0}")]
    Wasm(String),
    /// Threads or files were refused by the system.
    #[error("the system refused what the guest engine needs: {0}")]
    System(#[from] std::io::Error),
}

/// Why a VM did not start.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The caller's deadline passed, or it cancelled, while every VM was in use.
    #[error("no VM became free in time: {0}")]
    Stopped(Fault),
    /// The engine could not make an instance.
    #[error("the VM could not be made: {0}")]
    Engine(String),
}

/// Why a VM was not turned into an image. The VM is gone.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SuspendError {
    /// The image is larger than the caller keeps.
    #[error("the suspended program takes {actual} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Size of the image in bytes.
        actual: usize,
        /// The caller's limit.
        limit: usize,
    },
    /// The VM had ended before.
    #[error("the VM has ended and cannot be suspended")]
    Ended,
    /// The engine could not provide what the image is compared with.
    #[error("the VM could not be suspended: {0}")]
    Engine(String),
}

/// Why an image did not become a VM again.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The bytes are something else.
    #[error("this is not an image of a suspended program")]
    NotAnImage,
    /// The image was made by another version: start the program again.
    #[error("the image was made by another build of the guest")]
    OtherBuild,
    /// The image is damaged: start the program again.
    #[error("the image is damaged: {0}")]
    Corrupt(&'static str),
    /// The image needs more memory than the limits allow.
    #[error("the suspended program needs {actual} bytes of memory, more than the limit of {limit}")]
    NoRoom {
        /// Memory of the suspended program in bytes.
        actual: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// No VM could be made to hold it.
    #[error(transparent)]
    Start(#[from] StartError),
}
