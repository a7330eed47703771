use codecell_trajectory::{
    EventKind, Limits, Redactor, SCHEMA_VERSION, Source, TRACE_SCHEMA, TrajectoryEvent,
};
use serde_json::{Map, Value, json};

use crate::entry::{Entry, StoredEntry};

/// Turns a session into the lines of a trajectory, merged with what its run recorded.
///
/// Calls, results and messages come from `entries`, so of `recorded` only the events of the runtime are taken. They
/// are ordered by time, then runtime before transcript, then as they came, and numbered anew. Everything from
/// `entries` is redacted; what would not fit a line keeps its ids and says `truncated` and `originalBytes`.
#[must_use]
pub fn export(
    entries: &[StoredEntry],
    recorded: &[TrajectoryEvent],
    redactor: &Redactor,
) -> Vec<TrajectoryEvent> {
    let runtime = recorded
        .iter()
        .filter(|event| event.source == Source::Runtime)
        .cloned();
    let transcript = entries.iter().map(|stored| event(stored, redactor));
    let mut events: Vec<_> = runtime.chain(transcript).collect();
    // A stable sort: runtime events come first already.
    events.sort_by(|one, other| one.ts.cmp(&other.ts));
    for (event, seq) in events.iter_mut().zip(1..) {
        event.seq = seq;
    }
    events
}

fn event(stored: &StoredEntry, redactor: &Redactor) -> TrajectoryEvent {
    let (kind, data) = match &stored.entry {
        Entry::User { text } => (other("user.message"), json!({ "text": text })),
        Entry::Assistant { text } => (other("assistant.message"), json!({ "text": text })),
        Entry::SessionInfo { name } => (other("session.info"), json!({ "name": name })),
        Entry::ToolCall(call) => (
            EventKind::ToolCall,
            serde_json::to_value(call).unwrap_or_default(),
        ),
        Entry::ToolResult(result) => (
            EventKind::ToolResult,
            serde_json::to_value(result).unwrap_or_default(),
        ),
    };
    TrajectoryEvent {
        trace_schema: TRACE_SCHEMA.to_owned(),
        schema_version: SCHEMA_VERSION,
        trace_id: stored.session_id.clone(),
        source: Source::Transcript,
        kind,
        ts: stored.ts.clone(),
        seq: stored.seq,
        session_id: stored.session_id.clone(),
        run_id: stored.run_id.clone(),
        data: Some(bounded(redactor.value(&data))),
    }
}

fn other(kind: &str) -> EventKind {
    EventKind::Other(kind.to_owned())
}

fn bounded(data: Value) -> Value {
    let bytes = data.to_string().len();
    if bytes <= Limits::default().line_bytes {
        return data;
    }
    let mut kept = Map::new();
    if let Value::Object(map) = data {
        // What is long is the content; ids, names and flags stay.
        let is_content = |key: &str| matches!(key, "text" | "arguments" | "result");
        kept.extend(map.into_iter().filter(|(key, _)| !is_content(key)));
    }
    kept.insert("truncated".to_owned(), true.into());
    kept.insert("originalBytes".to_owned(), bytes.into());
    Value::Object(kept)
}
