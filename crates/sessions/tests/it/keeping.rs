use codecell_sessions::{Entry, Limits, Outcome, Session, SessionError, Sessions, ToolCall};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{KEY, assistant, at, entries, open, user};

#[tokio::test]
async fn a_reset_keeps_what_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = open(folder.path()).await;
    let named = vec![
        user("a"),
        Entry::SessionInfo {
            name: Some("first".into()),
        },
        assistant("b"),
    ];
    let first = sessions
        .append(KEY, Some("run"), named.clone(), at(0))
        .await
        .unwrap()
        .session_id;
    let second = sessions.reset(KEY, at(60)).await.unwrap();
    assert_eq!(sessions.branch(KEY).await.unwrap(), []);

    let session = |id: &str, name: Option<&str>, ts: &str, entries, active| Session {
        session_id: id.to_owned(),
        session_key: KEY.to_owned(),
        name: name.map(str::to_owned),
        started_at: ts.to_owned(),
        updated_at: ts.to_owned(),
        entries,
        active,
    };
    assert_eq!(
        sessions.list().await.unwrap(),
        [
            session(&second, None, "2026-06-01T00:01:00.000Z", 0, true),
            session(&first, Some("first"), "2026-06-01T00:00:00.000Z", 3, false),
        ]
    );
    let last = sessions.history(&first, None, 2).await.unwrap();
    assert_eq!(entries(&last), named[1..]);
    assert_eq!(
        entries(&sessions.history(&first, Some(last[0].seq), 2).await.unwrap()),
        named[..1]
    );

    sessions.delete(&first).await.unwrap();
    let unknown = SessionError::Unknown(first.clone());
    assert_eq!(sessions.history(&first, None, 2).await.unwrap_err(), unknown);
    assert_eq!(sessions.delete(&first).await.unwrap_err(), unknown);
}

#[tokio::test]
async fn a_session_can_be_read_as_one_of_its_runs_left_it() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = open(folder.path()).await;
    for (run, said) in [
        ("run-1", vec![user("a"), assistant("b")]),
        ("run-2", vec![user("c")]),
    ] {
        sessions.append(KEY, Some(run), said, at(0)).await.unwrap();
    }

    let found = |run: &'static str| {
        let sessions = sessions.clone();
        async move {
            let found = sessions.up_to_run(run).await.unwrap();
            found.map(|branch| (branch.session_key, branch.is_newest, entries(&branch.entries)))
        }
    };
    let first = vec![user("a"), assistant("b")];
    let both = [first.clone(), vec![user("c")]].concat();
    assert_eq!(found("run-1").await, Some((KEY.to_owned(), false, first)));
    assert_eq!(found("run-2").await, Some((KEY.to_owned(), true, both.clone())));
    assert_eq!(found("run-3").await, None);

    sessions.reset(KEY, at(1)).await.unwrap();
    assert_eq!(
        found("run-2").await,
        Some((KEY.to_owned(), false, both)),
        "a reset leaves the run in an old session"
    );
}

#[tokio::test]
async fn an_entry_beyond_the_limit_stores_nothing_of_its_batch() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        entry_bytes: 40,
        ..Limits::default()
    };
    let sessions = Sessions::open(&folder.path().join("s"), limits).await.unwrap();
    let batch = vec![user("short"), user(&"x".repeat(40))];
    let error = sessions.append(KEY, None, batch, at(0)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "an entry takes 65 bytes, at most 40 are stored; shorten it"
    );
    assert_eq!(sessions.branch(KEY).await.unwrap(), []);
}

fn entry() -> impl Strategy<Value = Entry> {
    let call =
        ("[a-z]{1,8}", "\\PC{0,20}", any::<i64>(), any::<bool>()).prop_map(|(id, text, number, nested)| {
            let arguments = json!({ "z": number, "a": [text, null] });
            if nested {
                ToolCall::nested(id, "parent", "openclaw:core:read", "read", arguments)
            } else {
                ToolCall::cell(id, Some("typescript"), arguments)
            }
        });
    prop_oneof![
        any::<String>().prop_map(|text| Entry::User { text }),
        any::<String>().prop_map(|text| Entry::Assistant { text }),
        any::<Option<String>>().prop_map(|name| Entry::SessionInfo { name }),
        call.clone().prop_map(Entry::ToolCall),
        (call, any::<bool>(), any::<u64>()).prop_map(|(call, failed, took)| {
            let outcome = if failed {
                Outcome::Error(Some("timeout".into()))
            } else {
                Outcome::Ok
            };
            Entry::ToolResult(call.result(outcome, Value::from("answer"), took))
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_appended_is_read_back(batches in prop::collection::vec(prop::collection::vec(entry(), 0..5), 1..5)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let sessions = open(folder.path()).await;
            for batch in &batches {
                sessions.append(KEY, None, batch.clone(), at(0)).await.unwrap();
            }
            drop(sessions);
            let read = open(folder.path()).await.branch(KEY).await.unwrap();
            prop_assert_eq!(entries(&read), batches.concat());
            prop_assert!(read.iter().map(|one| one.seq).eq(1..=read.len() as u64));
            Ok(())
        })?;
    }
}
