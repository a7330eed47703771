use std::{
    io,
    sync::{Arc, Mutex},
};

use codecell_trajectory::{
    ApprovalRequested, ApprovalResolved, Happening, JsonLines, MemorySink, Outcome, Recorder, Redactor, Sink,
    ToolCall, TrajectoryEvent, parse_lines,
};
use serde_json::{Value, json};

use crate::{clock, data, recorder, types};

/// A writer whose bytes can be looked at.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_session_is_written_line_by_line_as_documented() {
    let written = Shared::default();
    let recorder = Recorder::new("s1", JsonLines::new(written.clone()))
        .with_clock(clock())
        .with_redactor(Redactor::default().with_home("/home/ann"));
    let cell = ToolCall::cell(
        "c1",
        Some("typescript"),
        json!({ "code": "x", "language": "typescript" }),
    );
    let nested = ToolCall::nested(
        "c1:1",
        "c1",
        "openclaw:core:write",
        "write",
        json!({ "path": "/home/ann/a" }),
    );
    recorder.record(None, Happening::SessionStarted);
    recorder.record(Some("r1"), cell.clone());
    recorder.record(Some("r1"), nested.clone());
    recorder.record(
        Some("r1"),
        ApprovalRequested {
            approval_id: "p1".into(),
            tool_call_id: "c1:1".into(),
            title: "Write a file?".into(),
            description: None,
        },
    );
    recorder.record(
        Some("r1"),
        ApprovalResolved {
            approval_id: "p1".into(),
            tool_call_id: "c1:1".into(),
            decision: "deny".into(),
            resolved_by: Some("console".into()),
        },
    );
    recorder.record(
        Some("r1"),
        nested.result(Outcome::Error(Some("denied".into())), json!("Denied by user"), 12),
    );
    recorder.record(
        Some("r1"),
        cell.result(Outcome::Ok, json!({ "status": "waiting", "runId": "cm_1" }), 20),
    );
    recorder.record(Some("r1"), ToolCall::wait("c2", json!({ "runId": "cm_1" })));
    recorder.record(None, Happening::SessionEnded);

    let bytes = written.0.lock().unwrap().clone();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.ends_with('\n'));
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let event = |seq: u64, source: &str, kind: &str, run: Option<&str>, data: Option<Value>| {
        let mut event = json!({
            "traceSchema": "openclaw-trajectory", "schemaVersion": 1, "traceId": "s1", "source": source, "type": kind,
            "ts": format!("2026-06-01T00:00:0{}.000Z", seq - 1), "seq": seq, "sessionId": "s1",
        });
        if let Some(run) = run {
            event["runId"] = run.into();
        }
        if let Some(data) = data {
            event["data"] = data;
        }
        event
    };
    let (runtime, transcript, run) = ("runtime", "transcript", Some("r1"));
    assert_eq!(
        lines,
        [
            event(1, runtime, "session.started", None, None),
            event(
                2,
                transcript,
                "tool.call",
                run,
                Some(json!({
                "toolCallId": "c1", "name": "exec", "toolKind": "code_mode_exec", "toolInputKind": "typescript",
                "arguments": { "code": "x", "language": "typescript" } }))
            ),
            event(
                3,
                transcript,
                "tool.call",
                run,
                Some(json!({
                "toolCallId": "c1:1", "parentToolCallId": "c1", "catalogId": "openclaw:core:write", "name": "write",
                "arguments": { "path": "$HOME/a" } }))
            ),
            event(
                4,
                runtime,
                "approval.requested",
                run,
                Some(json!({
                "approvalId": "p1", "toolCallId": "c1:1", "title": "Write a file?" }))
            ),
            event(
                5,
                runtime,
                "approval.resolved",
                run,
                Some(json!({
                "approvalId": "p1", "toolCallId": "c1:1", "decision": "deny", "resolvedBy": "console" }))
            ),
            event(
                6,
                transcript,
                "tool.result",
                run,
                Some(json!({
                "toolCallId": "c1:1", "parentToolCallId": "c1", "catalogId": "openclaw:core:write", "name": "write",
                "isError": true, "code": "denied", "tookMs": 12, "result": "Denied by user" }))
            ),
            event(
                7,
                transcript,
                "tool.result",
                run,
                Some(json!({
                "toolCallId": "c1", "name": "exec", "isError": false, "tookMs": 20,
                "result": { "status": "waiting", "runId": "cm_1" } }))
            ),
            event(
                8,
                transcript,
                "tool.call",
                run,
                Some(json!({
                "toolCallId": "c2", "name": "wait", "toolKind": "code_mode_wait", "arguments": { "runId": "cm_1" } }))
            ),
            event(9, runtime, "session.ended", None, None),
        ]
    );
    let read = parse_lines(&bytes);
    assert_eq!((read.events.len(), read.warnings.len()), (9, 0));
}

#[test]
fn threads_share_one_recorder_and_no_number_is_given_twice() {
    let (recorder, sink) = recorder();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let recorder = &recorder;
            scope.spawn(move || {
                for call in 0..50 {
                    recorder.record(None, ToolCall::direct(format!("{thread}:{call}"), "t", json!({})));
                }
            });
        }
    });
    let seqs: Vec<u64> = sink.events().iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=400).collect::<Vec<_>>());
}

/// Fails at the third line.
struct Full(usize);

impl Sink for Full {
    fn write(&mut self, _event: &TrajectoryEvent, _line: &str) -> io::Result<()> {
        self.0 += 1;
        match self.0 {
            1 | 2 => Ok(()),
            3 => Err(io::Error::other("the disk is full")),
            _ => panic!("asked again after an error"),
        }
    }
}

#[test]
fn a_sink_that_fails_is_left_alone_and_told_once() {
    let recorder = Recorder::new("s1", Full(0)).with_clock(clock());
    for call in 0..6 {
        assert!(call > 2 || recorder.take_error().is_none());
        recorder.record(None, ToolCall::direct(call.to_string(), "t", json!({})));
    }
    recorder.record(None, Happening::SessionEnded);
    assert_eq!(recorder.take_error().unwrap().to_string(), "the disk is full");
    recorder.record(None, Happening::SessionEnded);
    assert!(recorder.take_error().is_none());
}

#[test]
fn memory_keeps_the_newest_events() {
    let sink = MemorySink::new(3);
    let recorder = Recorder::new("s1", sink.clone()).with_clock(clock());
    for call in 0..10 {
        recorder.record(None, ToolCall::direct(format!("c{call}"), "t", json!({})));
    }
    let kept: Vec<(u64, Value)> = sink
        .events()
        .iter()
        .map(|event| (event.seq, data(event)["toolCallId"].clone()))
        .collect();
    assert_eq!(kept, [(8, json!("c7")), (9, json!("c8")), (10, json!("c9"))]);
}

#[test]
fn nothing_follows_the_end_of_a_session() {
    let (recorder, sink) = recorder();
    recorder.record(None, Happening::SessionEnded);
    recorder.record(None, ToolCall::direct("late", "t", json!({})));
    recorder.record(None, Happening::SessionEnded);
    assert_eq!(types(&sink.events()), ["session.ended"]);
}
