use std::{path::PathBuf, time::Duration};

/// Why nothing was stored or read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Something else's file. It was not changed.
    #[error("`{0}` is not a session file; move it away or name another file")]
    Foreign(PathBuf),
    /// Written by a later version. It was not changed.
    #[error(
        "`{path}` has newer schema version {found}, this version knows {known}; upgrade, or name another file"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest that is understood.
        known: i64,
    },
    /// A session file that is damaged.
    #[error(
        "`{path}` is damaged ({detail}); restore it from a backup, or move it and its `-wal` file away to start over"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Another process holds the file. Nothing was stored; trying again is safe.
    #[error("the session file was busy for {waited:?}; try again, or end the process that holds it")]
    Busy {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The disk or [`Limits::file_bytes`](crate::Limits::file_bytes) is used up. Nothing was stored.
    #[error("the session file cannot grow; free disk space, raise its limit, or delete old sessions")]
    Full,
    /// An entry beyond [`Limits::entry_bytes`](crate::Limits::entry_bytes). None of its batch was stored.
    #[error("an entry takes {bytes} bytes, at most {limit} are stored; shorten it")]
    TooLarge {
        /// What it takes as JSON.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// No such session.
    #[error("session `{0}` is unknown; list the sessions to see which there are")]
    Unknown(String),
    /// The file cannot be opened, read or written.
    #[error("`{path}`: {detail}; check that the folder exists and may be written")]
    Storage {
        /// The file.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// The thread that owns the file is gone.
    #[error("the session file is closed; open it again")]
    Closed,
}
