use std::{
    fmt, io,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use serde_json::{Value, json};

use crate::{
    clock::{Clock, rfc3339},
    event::{EventKind, Happening, SCHEMA_VERSION, Source, TRACE_SCHEMA, TrajectoryEvent},
    limits::Limits,
    redact::Redactor,
    sink::Sink,
};

/// Records what happens in one session. Shared by reference between threads.
///
/// Recording never fails the session: a sink that cannot write is asked no more, and says why once.
pub struct Recorder {
    session_id: String,
    clock: Box<dyn Clock>,
    redactor: Redactor,
    limits: Limits,
    state: Mutex<State>,
}

struct State {
    sink: Box<dyn Sink>,
    seq: u64,
    bytes: u64,
    /// Events that were left out since the trace is full.
    dropped: u64,
    ended: bool,
    failure: Failure,
}

enum Failure {
    None,
    Unreported(io::Error),
    Reported,
}

/// What is left of an answer that is too big for a line: enough to find its place.
const KEPT: [&str; 10] = [
    "toolCallId",
    "parentToolCallId",
    "catalogId",
    "name",
    "toolKind",
    "isError",
    "code",
    "tookMs",
    "approvalId",
    "decision",
];

impl Recorder {
    /// A recorder with the system's clock, default limits and no paths to hide.
    #[must_use]
    pub fn new(session_id: impl Into<String>, sink: impl Sink + 'static) -> Self {
        Self {
            session_id: session_id.into(),
            clock: Box::new(SystemTime::now),
            redactor: Redactor::default(),
            limits: Limits::default(),
            state: Mutex::new(State {
                sink: Box::new(sink),
                seq: 0,
                bytes: 0,
                dropped: 0,
                ended: false,
                failure: Failure::None,
            }),
        }
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// The same with a redactor that knows the session's paths.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Records what happens now, in the agent run `run_id` if there is one.
    ///
    /// Beyond a limit of the session one `trace.truncated` is written and, at its time, the end of the session.
    pub fn record(&self, run_id: Option<&str>, happening: impl Into<Happening>) {
        let happening = happening.into();
        let ending = matches!(happening, Happening::SessionEnded);
        if !ending && self.state().is_closed() {
            self.state().dropped += 1;
            return;
        }
        let (kind, source) = (happening.kind(), happening.source());
        // Outside the lock: this is the expensive part.
        let data = happening
            .into_data()
            .map(|data| self.limits.applied(&data, &self.redactor));
        let mut event = TrajectoryEvent {
            trace_schema: TRACE_SCHEMA.to_owned(),
            schema_version: SCHEMA_VERSION,
            trace_id: self.session_id.clone(),
            source,
            kind,
            ts: String::new(),
            seq: 0,
            session_id: self.session_id.clone(),
            run_id: run_id.map(str::to_owned),
            data,
        };
        let mut state = self.state();
        if ending {
            if std::mem::replace(&mut state.ended, true) {
                return;
            }
            if state.dropped > 0 {
                event.data = Some(json!({ "droppedEvents": state.dropped }));
            }
        } else if state.is_closed() {
            state.dropped += 1;
            return;
        }
        let mut line = self.stamped(&mut event, state.seq + 1);
        if line.len() > self.limits.line_bytes {
            event.data = event.data.map(|data| remains(&data, line.len()));
            line = self.stamped(&mut event, state.seq + 1);
        }
        let over = if state.seq >= self.limits.session_events {
            Some(json!({ "limit": "events", "max": self.limits.session_events }))
        } else if state.bytes + line.len() as u64 + 1 > self.limits.session_bytes {
            Some(json!({ "limit": "bytes", "max": self.limits.session_bytes }))
        } else {
            None
        };
        if let Some(limit) = over.filter(|_| !ending) {
            state.dropped = 1;
            event.kind = EventKind::TraceTruncated;
            event.source = Source::Runtime;
            event.run_id = None;
            event.data = Some(limit);
            line = self.stamped(&mut event, state.seq + 1);
        }
        state.write(&event, &line);
    }

    /// Why nothing is written any more, if so. Told once.
    #[must_use]
    pub fn take_error(&self) -> Option<io::Error> {
        let mut state = self.state();
        match std::mem::replace(&mut state.failure, Failure::None) {
            Failure::None => None,
            Failure::Unreported(error) => {
                state.failure = Failure::Reported;
                Some(error)
            }
            Failure::Reported => {
                state.failure = Failure::Reported;
                None
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stamped(&self, event: &mut TrajectoryEvent, seq: u64) -> String {
        event.ts = rfc3339(self.clock.now());
        event.seq = seq;
        // Strings, numbers and JSON: there is nothing in it that cannot be written.
        serde_json::to_string(event).unwrap_or_default()
    }
}

impl State {
    /// Whether only the end of the session may still come.
    fn is_closed(&self) -> bool {
        self.dropped > 0 || self.ended
    }

    fn write(&mut self, event: &TrajectoryEvent, line: &str) {
        if !matches!(self.failure, Failure::None) {
            return;
        }
        match self.sink.write(event, line) {
            Ok(()) => {
                self.seq = event.seq;
                self.bytes += line.len() as u64 + 1;
            }
            Err(error) => self.failure = Failure::Unreported(error),
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("session_id", &self.session_id)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

fn remains(data: &Value, bytes: usize) -> Value {
    let mut left = serde_json::Map::new();
    for key in KEPT {
        match data.get(key) {
            Some(Value::String(text)) => {
                left.insert(key.to_owned(), text.chars().take(512).collect::<String>().into());
            }
            Some(value @ (Value::Number(_) | Value::Bool(_))) => {
                left.insert(key.to_owned(), value.clone());
            }
            _ => {}
        }
    }
    left.insert("truncated".to_owned(), true.into());
    left.insert("originalBytes".to_owned(), bytes.into());
    Value::Object(left)
}
