use std::{fs, time::Duration};

use codecell_sessions::{Limits, SessionError, Sessions};
use rusqlite::Connection;

use crate::{KEY, at, entries, open, user};

#[tokio::test]
async fn a_file_that_is_not_ours_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.sqlite");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE t (a)")
        .unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "no database at all, but long enough to be one".repeat(40)).unwrap();
    for path in [other, text] {
        let before = fs::read(&path).unwrap();
        let error = Sessions::open(&path, Limits::default()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "`{}` is not a session file; move it away or name another file",
                path.display()
            )
        );
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[tokio::test]
async fn a_newer_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).await);
    let path = folder.path().join("sessions.sqlite");
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version = 9")
        .unwrap();
    let error = Sessions::open(&path, Limits::default()).await.unwrap_err();
    assert_eq!(
        error,
        SessionError::Newer {
            path,
            found: 9,
            known: 1
        }
    );
    assert!(error.to_string().contains("newer schema version"));
}

#[tokio::test]
async fn a_damaged_entry_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = open(folder.path()).await;
    let receipt = sessions.append(KEY, None, vec![user("a")], at(0)).await.unwrap();
    let path = folder.path().join("sessions.sqlite");
    let damage = Connection::open(&path).unwrap();
    let change = "UPDATE entries SET entry = '{'";
    assert!(damage.execute_batch(change).is_err(), "entries are append-only");
    damage
        .execute_batch(&format!("DROP TRIGGER entries_are_final; {change}"))
        .unwrap();
    let detail = format!(
        "entry 1 of session `{}`: EOF while parsing an object at line 1 column 1",
        receipt.session_id
    );
    assert_eq!(
        sessions.branch(KEY).await.unwrap_err(),
        SessionError::Damaged { path, detail }
    );
}

#[tokio::test]
async fn a_full_file_takes_nothing_and_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        file_bytes: 128 << 10,
        ..Limits::default()
    };
    let path = folder.path().join("sessions.sqlite");
    let sessions = Sessions::open(&path, limits).await.unwrap();
    let large = || vec![user(&"x".repeat(20 << 10)), user("after")];
    let mut kept = Vec::new();
    let error = loop {
        match sessions.append(KEY, None, large(), at(0)).await {
            Ok(_) => kept.extend(large()),
            Err(error) => break error,
        }
    };
    assert_eq!(error, SessionError::Full);
    assert!(!kept.is_empty());
    assert_eq!(entries(&sessions.branch(KEY).await.unwrap()), kept);
    let old = sessions.list().await.unwrap()[0].session_id.clone();
    sessions.delete(&old).await.unwrap();
    sessions.append(KEY, None, large(), at(1)).await.unwrap();
}

#[tokio::test]
async fn a_file_that_another_holds_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.sqlite");
    let limits = Limits {
        busy: Duration::ZERO,
        ..Limits::default()
    };
    let sessions = Sessions::open(&path, limits).await.unwrap();
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let append = || sessions.append(KEY, None, vec![user("a")], at(0));
    assert_eq!(
        append().await.unwrap_err(),
        SessionError::Busy {
            waited: Duration::ZERO
        }
    );
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(append().await.unwrap().last_seq, 1);
}
