use codecell_sessions::{
    Entry, Message, NO_RESULT, Outcome, StoredEntry, ToolCall, ToolResult, export, projected, replay,
};
use codecell_trajectory::{MemorySink, Recorder, Redactor, tree};
use serde_json::{Value, json};

use crate::{assistant, at, user};

const TOOLS: [&str; 2] = ["exec", "wait"];

fn stored(entries: Vec<Entry>) -> Vec<StoredEntry> {
    let place = |(seq, entry)| StoredEntry {
        session_id: "s".into(),
        seq,
        ts: format!("2026-06-01T00:00:{seq:02}.000Z"),
        run_id: None,
        entry,
    };
    (1..).zip(entries).map(place).collect()
}

fn cell(id: &str) -> ToolCall {
    ToolCall::cell(id, None, json!({ "code": "1" }))
}

fn nested(id: &str, parent: &str) -> ToolCall {
    ToolCall::nested(
        id,
        parent,
        "openclaw:core:read",
        "read",
        json!({ "path": "a", "token": "t-1" }),
    )
}

fn ok(call: &ToolCall) -> ToolResult {
    call.result(Outcome::Ok, Value::from("done"), 1)
}

#[test]
fn a_provider_sees_only_what_it_declared_and_every_call_answered() {
    let (one, two, lost) = (
        cell("c1"),
        cell("c2"),
        ToolCall::wait("w", json!({ "runId": "r" })),
    );
    let inner = nested("c1:1", "c1");
    let gone = ToolCall::direct("g", "grep", json!({}));
    let entries = stored(vec![
        user("go"),
        Entry::SessionInfo { name: None },
        assistant("two cells"),
        Entry::ToolCall(one.clone()),
        Entry::ToolCall(two.clone()),
        Entry::ToolCall(inner.clone()),
        Entry::ToolResult(ok(&inner)),
        Entry::ToolResult(ok(&two)),
        Entry::ToolResult(ok(&one)),
        Entry::ToolResult(ok(&cell("never called"))),
        Entry::ToolCall(gone.clone()),
        Entry::ToolResult(ok(&gone)),
        Entry::ToolCall(lost.clone()),
        user("still there?"),
        assistant("yes"),
    ]);
    assert_eq!(
        replay(&entries, &TOOLS),
        [
            Message::User { text: "go".into() },
            Message::Assistant {
                text: "two cells".into(),
                calls: vec![one.clone(), two.clone()]
            },
            Message::ToolResult(ok(&one)),
            Message::ToolResult(ok(&two)),
            Message::Assistant {
                text: String::new(),
                calls: vec![lost.clone()]
            },
            Message::ToolResult(lost.result(Outcome::Error(None), NO_RESULT.into(), 0)),
            Message::User {
                text: "still there?".into()
            },
            Message::Assistant {
                text: "yes".into(),
                calls: vec![]
            },
        ]
    );
}

#[test]
fn a_nested_call_is_shown_under_what_it_was_settled_in() {
    let (cell, wait) = (cell("c"), ToolCall::wait("w", json!({})));
    let (early, late, never) = (nested("c:1", "c"), nested("c:2", "c"), nested("c:3", "c"));
    let entries = stored(vec![
        Entry::ToolCall(cell.clone()),  // 1
        Entry::ToolCall(early.clone()), // 2
        Entry::ToolCall(late.clone()),  // 3
        Entry::ToolResult(ok(&early)),  // 4
        Entry::ToolCall(never),         // 5
        Entry::ToolResult(ok(&cell)),   // 6
        Entry::ToolCall(wait.clone()),  // 7
        Entry::ToolResult(ok(&late)),   // 8
        Entry::ToolResult(ok(&wait)),   // 9
        assistant("done"),              // 10
    ]);
    let order: Vec<_> = projected(&entries).iter().map(|one| one.seq).collect();
    assert_eq!(order, [1, 6, 2, 4, 7, 9, 3, 8, 10, 5]);
}

#[test]
fn an_export_merges_what_was_recorded_and_hides_secrets() {
    let (cell, inner) = (cell("c"), nested("c:1", "c"));
    let entries = stored(vec![
        user("go"),
        Entry::ToolCall(cell.clone()),
        Entry::ToolCall(inner.clone()),
        Entry::ToolResult(ok(&inner)),
        Entry::ToolResult(cell.result(Outcome::Ok, "x".repeat(300 << 10).into(), 1)),
    ]);
    let sink = MemorySink::new(9);
    let recorder = Recorder::new("s", sink.clone()).with_clock(|| at(2));
    recorder.record(None, codecell_trajectory::Happening::SessionStarted);
    recorder.record(None, cell);

    let events = export(&entries, &sink.events(), &Redactor::default());
    let lines: Vec<_> = events
        .iter()
        .map(|event| json!([event.seq, event.kind, event.ts]))
        .collect();
    assert_eq!(
        Value::from(lines),
        json!([
            [1, "user.message", "2026-06-01T00:00:01.000Z"],
            [2, "session.started", "2026-06-01T00:00:02.000Z"],
            [3, "tool.call", "2026-06-01T00:00:02.000Z"],
            [4, "tool.call", "2026-06-01T00:00:03.000Z"],
            [5, "tool.result", "2026-06-01T00:00:04.000Z"],
            [6, "tool.result", "2026-06-01T00:00:05.000Z"],
        ])
    );
    let cells = tree(&events);
    let call = cells[0].children[0].call.data.as_ref().unwrap();
    assert_eq!(call["arguments"], json!({ "path": "a", "token": "<redacted>" }));
    assert_eq!(
        (&call["parentToolCallId"], &call["catalogId"]),
        (&json!("c"), &json!("openclaw:core:read"))
    );
    assert_eq!(
        cells[0].result.as_ref().unwrap().data,
        Some(json!({
            "toolCallId": "c", "name": "exec", "isError": false, "tookMs": 1,
            "truncated": true, "originalBytes": (300 << 10) + 71,
        }))
    );
}
