use std::{
    path::Path,
    sync::mpsc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::{
    entry::{Entry, Receipt, RunBranch, Session, StoredEntry},
    error::SessionError,
    file::{File, Limits},
};

type Job = Box<dyn FnOnce(&mut File) + Send>;

const TS: &str = "'%Y-%m-%dT%H:%M:%fZ'";

/// The sessions of one file. Clones share it; it is closed when the last is gone.
#[derive(Debug, Clone)]
pub struct Sessions {
    jobs: mpsc::Sender<Job>,
    limits: Limits,
}

impl Sessions {
    /// Opens or creates the file, bringing an older one up to date.
    ///
    /// # Errors
    ///
    /// Fails when the file is another's, newer, damaged, busy or out of reach. It is not changed then.
    pub async fn open(path: &Path, limits: Limits) -> Result<Self, SessionError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (ready, opened) = oneshot::channel();
        let at = path.to_owned();
        let owner = move || match File::open(&at, limits) {
            Ok(mut file) => {
                if ready.send(Ok(())).is_ok() {
                    queue.into_iter().for_each(|job| job(&mut file));
                }
            }
            // Whoever asked may be gone.
            Err(error) => drop(ready.send(Err(error))),
        };
        std::thread::Builder::new()
            .name("sessions".to_owned())
            .spawn(owner)
            .map_err(|error| SessionError::Storage {
                path: path.to_owned(),
                detail: error.to_string(),
            })?;
        opened.await.map_err(|_| SessionError::Closed)??;
        Ok(Self { jobs, limits })
    }

    /// Appends `entries` to the active session of `key`, which begins if there is none: all of them or none.
    ///
    /// Once this returns they survive the death of the process and of the machine. A caller that stops waiting
    /// does not know whether they were stored.
    ///
    /// # Errors
    ///
    /// Nothing is stored when an entry is too large, or when the file is full, busy or damaged.
    pub async fn append(
        &self,
        key: &str,
        run_id: Option<&str>,
        entries: Vec<Entry>,
        now: SystemTime,
    ) -> Result<Receipt, SessionError> {
        let limit = self.limits.entry_bytes;
        let mut lines = Vec::with_capacity(entries.len());
        let mut renamed = None;
        for entry in entries {
            // Strings, numbers and JSON: there is nothing in it that cannot be written.
            let line = serde_json::to_string(&entry).unwrap_or_default();
            if line.len() > limit {
                return Err(SessionError::TooLarge {
                    bytes: line.len(),
                    limit,
                });
            }
            lines.push(line);
            if let Entry::SessionInfo { name } = entry {
                renamed = Some(name);
            }
        }
        let (key, run_id, now) = (key.to_owned(), run_id.map(str::to_owned), millis(now));
        self.change(move |transaction| {
            let id = match active(transaction, &key)? {
                Some(id) => id,
                None => begin(transaction, &key, now)?,
            };
            let sql = "SELECT coalesce(max(seq), 0) FROM entries WHERE session_id = ?1";
            let mut last_seq: u64 = transaction.query_row(sql, [&id], |row| row.get(0))?;
            let sql =
                "INSERT INTO entries (session_id, seq, at_ms, run_id, entry) VALUES (?1, ?2, ?3, ?4, ?5)";
            let mut insert = transaction.prepare(sql)?;
            for line in lines {
                last_seq += 1;
                insert.execute(params![id, last_seq, now, run_id, line])?;
            }
            transaction.execute(
                "UPDATE sessions SET updated_at = max(updated_at, ?2) WHERE id = ?1",
                params![id, now],
            )?;
            if let Some(name) = renamed {
                transaction.execute("UPDATE sessions SET name = ?2 WHERE id = ?1", params![id, name])?;
            }
            Ok(Receipt {
                session_id: id,
                last_seq,
            })
        })
        .await
    }

    /// The active session of `key`, in the order it was appended; empty if there is none.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read or an entry is damaged.
    pub async fn branch(&self, key: &str) -> Result<Vec<StoredEntry>, SessionError> {
        let key = key.to_owned();
        self.with(
            move |file| match active(&file.connection, &key).map_err(|error| file.failure(error))? {
                Some(id) => page(file, &id, u64::MAX, usize::MAX),
                None => Ok(Vec::new()),
            },
        )
        .await
    }

    /// What was said in a session up to the end of one run: the session as that run left it. `None` if no run of
    /// this id appended anything.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read or an entry is damaged.
    pub async fn up_to_run(&self, run_id: &str) -> Result<Option<RunBranch>, SessionError> {
        let run_id = run_id.to_owned();
        self.with(move |file| {
            let sql = "SELECT e.session_id, max(e.seq), s.key, s.active,
                              (SELECT max(seq) FROM entries WHERE session_id = e.session_id)
                       FROM entries e JOIN sessions s ON s.id = e.session_id
                       WHERE e.run_id = ?1 GROUP BY e.session_id";
            let place = |row: &Row<'_>| -> rusqlite::Result<(String, u64, String, bool, u64)> {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            };
            let found = file.connection.query_row(sql, [&run_id], place).optional();
            let found = found.map_err(|error| file.failure(error))?;
            let Some((id, last, session_key, active, newest)) = found else {
                return Ok(None);
            };
            Ok(Some(RunBranch {
                session_key,
                is_newest: active && last == newest,
                entries: page(file, &id, last.saturating_add(1), usize::MAX)?,
            }))
        })
        .await
    }

    /// The last `limit` entries of a session that come before `before`, in order; from its end without `before`.
    ///
    /// Reads no more than these, so the end of a long session is cheap to show.
    ///
    /// # Errors
    ///
    /// Fails when there is no such session, the file cannot be read or an entry is damaged.
    pub async fn history(
        &self,
        session_id: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredEntry>, SessionError> {
        let id = session_id.to_owned();
        self.with(move |file| {
            let sql = "SELECT 1 FROM sessions WHERE id = ?1";
            let known = file.connection.query_row(sql, [&id], |_| Ok(())).optional();
            match known.map_err(|error| file.failure(error))? {
                Some(()) => page(file, &id, before.unwrap_or(u64::MAX), limit),
                None => Err(SessionError::Unknown(id)),
            }
        })
        .await
    }

    /// Every session, those that were reset too; the last one used first.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read.
    pub async fn list(&self) -> Result<Vec<Session>, SessionError> {
        self.with(|file| listed(&file.connection).map_err(|error| file.failure(error)))
            .await
    }

    /// Begins a new session for `key` and says its id. What was said before is kept under the old id.
    ///
    /// # Errors
    ///
    /// Nothing has changed when the file is full, busy or damaged.
    pub async fn reset(&self, key: &str, now: SystemTime) -> Result<String, SessionError> {
        let (key, now) = (key.to_owned(), millis(now));
        self.change(move |transaction| {
            transaction.execute(
                "UPDATE sessions SET active = 0 WHERE key = ?1 AND active = 1",
                [&key],
            )?;
            begin(transaction, &key, now)
        })
        .await
    }

    /// Deletes one session with all its entries.
    ///
    /// # Errors
    ///
    /// Nothing has changed when there is no such session, or when the file is busy or damaged.
    pub async fn delete(&self, session_id: &str) -> Result<(), SessionError> {
        let id = session_id.to_owned();
        let sought = id.clone();
        let gone = self
            .change(move |transaction| transaction.execute("DELETE FROM sessions WHERE id = ?1", [&sought]))
            .await?;
        if gone == 0 {
            Err(SessionError::Unknown(id))
        } else {
            Ok(())
        }
    }

    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, SessionError> {
        self.with(move |file| {
            // Immediate: a reader that turns writer may not wait for another writer, it fails.
            let done = (|| {
                let transaction = file
                    .connection
                    .transaction_with_behavior(TransactionBehavior::Immediate)?;
                let value = change(&transaction)?;
                transaction.commit()?;
                Ok(value)
            })();
            done.map_err(|error| file.failure(error))
        })
        .await
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut File) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let (reply, answer) = oneshot::channel();
        // Whoever asked may be gone; the work is done all the same.
        let job = Box::new(move |file: &mut File| drop(reply.send(work(file))));
        self.jobs.send(job).map_err(|_| SessionError::Closed)?;
        answer.await.map_err(|_| SessionError::Closed)?
    }
}

fn active(connection: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT id FROM sessions WHERE key = ?1 AND active = 1";
    connection.query_row(sql, [key], |row| row.get(0)).optional()
}

fn begin(transaction: &Transaction<'_>, key: &str, now: i64) -> rusqlite::Result<String> {
    let id = Uuid::new_v4().to_string();
    let sql = "INSERT INTO sessions (id, key, started_at, updated_at, active) VALUES (?1, ?2, ?3, ?3, 1)";
    transaction.execute(sql, params![id, key, now])?;
    Ok(id)
}

fn page(file: &File, id: &str, before: u64, limit: usize) -> Result<Vec<StoredEntry>, SessionError> {
    let read = |row: &Row<'_>| -> rusqlite::Result<(u64, String, Option<String>, String)> {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    };
    let rows = (|| {
        let sql = format!(
            "SELECT seq, strftime({TS}, at_ms / 1000.0, 'unixepoch'), run_id, entry FROM entries
             WHERE session_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3"
        );
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut query = file.connection.prepare(&sql)?;
        query
            .query_map(params![id, before, limit], read)?
            .collect::<rusqlite::Result<Vec<_>>>()
    })();
    let stored = |(seq, ts, run_id, line): (u64, String, Option<String>, String)| {
        let entry = serde_json::from_str(&line).map_err(|error| SessionError::Damaged {
            path: file.path.clone(),
            detail: format!("entry {seq} of session `{id}`: {error}"),
        })?;
        Ok(StoredEntry {
            session_id: id.to_owned(),
            seq,
            ts,
            run_id,
            entry,
        })
    };
    rows.map_err(|error| file.failure(error))?
        .into_iter()
        .rev()
        .map(stored)
        .collect()
}

fn listed(connection: &Connection) -> rusqlite::Result<Vec<Session>> {
    let sql = format!(
        "SELECT id, key, name, strftime({TS}, started_at / 1000.0, 'unixepoch'),
                strftime({TS}, updated_at / 1000.0, 'unixepoch'), active,
                (SELECT coalesce(max(seq), 0) FROM entries WHERE session_id = id)
         FROM sessions ORDER BY updated_at DESC, active DESC, id"
    );
    let session = |row: &Row<'_>| {
        Ok(Session {
            session_id: row.get(0)?,
            session_key: row.get(1)?,
            name: row.get(2)?,
            started_at: row.get(3)?,
            updated_at: row.get(4)?,
            active: row.get(5)?,
            entries: row.get(6)?,
        })
    };
    connection.prepare(&sql)?.query_map((), session)?.collect()
}

/// Milliseconds since 1970, and 1970 for anything before.
fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
