use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::SessionError;

/// What `user_version` says. A file with a higher one is refused.
pub const SCHEMA_VERSION: i64 = 1;

/// `CCss`: tells a session file from any other SQLite database.
const APPLICATION_ID: i64 = 0x4343_7373;

/// How to get from each version to the next; only ever added to.
const MIGRATIONS: [&str; SCHEMA_VERSION as usize] = ["
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, key TEXT NOT NULL, name TEXT,
        started_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, active INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX active_session ON sessions (key) WHERE active = 1;
    CREATE TABLE entries (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, run_id TEXT, entry TEXT NOT NULL,
        PRIMARY KEY (session_id, seq)
    ) STRICT;
    CREATE INDEX runs ON entries (run_id) WHERE run_id IS NOT NULL;
    CREATE TRIGGER entries_are_final BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
"];

/// How long to pause before asking again for the one lock SQLite does not wait for.
const WAL_PAUSE: Duration = Duration::from_millis(5);

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one entry as JSON.
    pub entry_bytes: usize,
    /// Bytes of the file, rounded down to pages. Does not cover the `-wal` file beside it.
    pub file_bytes: u64,
    /// How long to wait for another process.
    pub busy: Duration,
}

impl Default for Limits {
    /// 1 MiB an entry, 10 GiB a file, 5 seconds.
    fn default() -> Self {
        Self {
            entry_bytes: 1 << 20,
            file_bytes: 10 << 30,
            busy: Duration::from_secs(5),
        }
    }
}

/// The open file.
pub(crate) struct File {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) limits: Limits,
}

impl File {
    pub(crate) fn open(path: &Path, limits: Limits) -> Result<Self, SessionError> {
        let fail = |error| translated(error, path, limits.busy);
        let mut connection = Connection::open(path).map_err(fail)?;
        connection.busy_timeout(limits.busy).map_err(fail)?;
        // Nothing is written before the file is known to be ours or empty.
        let found = current(&connection, path).map_err(|error| error.unwrap_or_else(fail))?;
        into_wal(&connection, limits.busy).map_err(fail)?;
        configure(&connection, limits).map_err(fail)?;
        if found < SCHEMA_VERSION {
            migrate(&mut connection, path).map_err(|error| error.unwrap_or_else(fail))?;
        }
        Ok(Self {
            connection,
            path: path.to_owned(),
            limits,
        })
    }

    pub(crate) fn failure(&self, error: rusqlite::Error) -> SessionError {
        translated(error, &self.path, self.limits.busy)
    }
}

/// Either the database's error or ours.
enum OpenError {
    Sqlite(rusqlite::Error),
    Session(SessionError),
}

impl OpenError {
    fn unwrap_or_else(self, translate: impl FnOnce(rusqlite::Error) -> SessionError) -> SessionError {
        match self {
            Self::Sqlite(error) => translate(error),
            Self::Session(error) => error,
        }
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// [`check`] in one transaction, or another process could migrate the file between two of its questions.
fn current(connection: &Connection, path: &Path) -> Result<i64, OpenError> {
    check(&*connection.unchecked_transaction()?, path)
}

/// The version of a file that may be used; 0 for an empty one.
fn check(connection: &Connection, path: &Path) -> Result<i64, OpenError> {
    let number = |sql: &str| connection.query_row(sql, (), |row| row.get::<_, i64>(0));
    let things = number("SELECT count(*) FROM sqlite_schema")?;
    let application = number("PRAGMA application_id")?;
    let found = number("PRAGMA user_version")?;
    if application != APPLICATION_ID && (application != 0 || found != 0 || things != 0) {
        return Err(OpenError::Session(SessionError::Foreign(path.to_owned())));
    }
    if found > SCHEMA_VERSION {
        let path = path.to_owned();
        return Err(OpenError::Session(SessionError::Newer {
            path,
            found,
            known: SCHEMA_VERSION,
        }));
    }
    Ok(found)
}

/// Two processes that open a new file at once both want it alone, and SQLite gives up at once then.
fn into_wal(connection: &Connection, busy: Duration) -> rusqlite::Result<()> {
    let began = Instant::now();
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(())) {
            Err(error) if is_busy(&error) && began.elapsed() < busy => std::thread::sleep(WAL_PAUSE),
            result => return result,
        }
    }
}

fn configure(connection: &Connection, limits: Limits) -> rusqlite::Result<()> {
    // FULL: in WAL mode anything less may lose the newest commits when the power goes.
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA foreign_keys = 1;")?;
    let page: u64 = connection.query_row("PRAGMA page_size", (), |row| row.get(0))?;
    let pages = (limits.file_bytes / page.max(1)).clamp(1, u64::from(u32::MAX - 1));
    connection.query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()))
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Again, now that nobody else can migrate it.
    let found = check(&transaction, path)?;
    for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    Ok(())
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

fn translated(error: rusqlite::Error, path: &Path, waited: Duration) -> SessionError {
    let path = path.to_owned();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => SessionError::Foreign(path),
        Some(ErrorCode::DatabaseCorrupt) => SessionError::Damaged { path, detail },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SessionError::Busy { waited },
        Some(ErrorCode::DiskFull) => SessionError::Full,
        _ => SessionError::Storage { path, detail },
    }
}
