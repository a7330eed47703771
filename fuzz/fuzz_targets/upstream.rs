//! Bytes of an MCP server: cut into lines or events, read as messages, and taken apart no further than needed.
//!
//! The first byte says into which portions the stream is cut, the second where the limit is.

#![no_main]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json, value::RawValue};
use tokio::io::BufReader;

use crate::config::Elicitation;
use crate::lines::Line;
use crate::message::{Fields, Incoming};

#[path = "../../crates/gateway/src/upstream/lines.rs"]
mod lines;
#[path = "../../crates/gateway/src/upstream/message.rs"]
#[expect(dead_code, reason = "some of it only starts conversations")]
mod message;
#[path = "../../crates/gateway/src/upstream/question.rs"]
#[expect(dead_code, reason = "nobody asks for the name of the method")]
mod question;
#[path = "../../crates/gateway/src/upstream/sse.rs"]
mod sse;

/// What those files know of the configuration.
mod config {
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Elicitation {
        Decline,
        Defaults,
    }
}

/// What is kept of either end of a line over the limit.
const KEPT_ENDS: usize = 128;

fuzz_target!(|data: &[u8]| {
    let Some((&[portion, limit], stream)) = data.split_first_chunk::<2>() else {
        return;
    };
    let portion = usize::from(portion).max(1);
    let limit = u64::from(limit) * 8;
    lines_are_those_of_the_stream(stream, portion, limit);
    for text in events_do_not_depend_on_portions(stream, portion, limit) {
        messages(text.trim());
    }
    for line in stream.split(|&byte| byte == b'\n') {
        if let Ok(line) = std::str::from_utf8(line) {
            messages(line.trim());
        }
    }
});

/// Lines come as they are up to the limit; of longer ones the two ends and the length are known, and no more is kept.
fn lines_are_those_of_the_stream(stream: &[u8], portion: usize, limit: u64) {
    let mut reader = BufReader::with_capacity(portion, stream);
    let mut expected = stream.split_inclusive(|&byte| byte == b'\n');
    while let Some(line) = at_once(lines::next_line(&mut reader, limit)).expect("a slice can be read") {
        let whole = expected.next().expect("as many lines as the stream has");
        let whole = whole.strip_suffix(b"\n").unwrap_or(whole);
        match line {
            Line::Whole(line) => {
                assert!(whole.len() as u64 <= limit);
                assert_eq!(line, whole);
            }
            Line::Oversized { head, tail, length } => {
                assert!(length > limit && length == whole.len() as u64);
                assert!(head.len() <= KEPT_ENDS && tail.len() <= KEPT_ENDS);
                assert!(whole.starts_with(&head) && whole.ends_with(&tail));
                // Whoever asked with this id has to be told; another id would end somebody else's request.
                if let Some(id) = lines::id_of_oversized(&head, &tail) {
                    let all = String::from_utf8_lossy(whole).replace(char::is_whitespace, "");
                    assert!(
                        all.contains(&format!("\"id\":{id}")) || id_has_sign_or_zeros(&all),
                        "{id} in {all}"
                    );
                }
            }
        }
    }
    assert_eq!(expected.next(), None, "a line was lost");
}

/// Rust reads `+7` and `007` as 7, which no writer of JSON makes.
fn id_has_sign_or_zeros(text: &str) -> bool {
    text.contains("\"id\":+") || text.contains("\"id\":0")
}

/// However a stream arrives, its events are the same; so is the verdict that one is too long.
fn events_do_not_depend_on_portions(stream: &[u8], portion: usize, limit: u64) -> Vec<String> {
    let read = |portion: usize| {
        let mut parser = sse::Parser::new(limit);
        let mut events = Vec::new();
        let verdict = stream
            .chunks(portion)
            .try_for_each(|part| parser.feed(part, &mut events));
        (events, verdict.is_ok(), parser.last_id, parser.retry)
    };
    let parts = read(portion);
    assert_eq!(parts, read(stream.len().max(1)));
    for event in &parts.0 {
        // A byte that is no UTF-8 becomes a mark of three.
        assert!(
            event.data.len() as u64 <= 3 * limit,
            "an event of {} bytes",
            event.data.len()
        );
    }
    parts.0.into_iter().map(|event| event.data).collect()
}

fn messages(text: &str) {
    let all = message::parse_all(text);
    if text.starts_with('[') {
        let parts: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
        assert!(all.len() <= parts.len(), "more messages than there are");
    }
    // Only an object is a message: a list of values in the right order is none.
    if let Some(one) = message::parse(text) {
        assert!(text.starts_with('{'), "read as a message: {text} {one:?}");
    }
    for incoming in all {
        match incoming {
            Incoming::Answer {
                id,
                outcome: Ok(result),
            } => answer(text, id, result),
            Incoming::Answer {
                outcome: Err(error), ..
            } => {
                // Some servers put whole pages into it.
                assert!(error.message.chars().count() <= 4_001);
            }
            Incoming::Request { id, method, params } => request(text, &id, &method, params.as_deref()),
            Incoming::Notification { .. } => {}
        }
    }
}

/// A result keeps its text, but for the fields that belong to the protocol.
fn answer(text: &str, id: Option<u64>, result: Box<RawValue>) {
    assert!(text.contains(result.get()), "{result} is not what was said");
    if let Some(id) = id {
        assert!(text.contains(&id.to_string()), "nobody said {id}");
    }
    let stripped = message::strip(result.clone());
    let again = message::strip(stripped.clone());
    assert_eq!(stripped.get(), again.get(), "stripped twice");
    let (Some(before), Some(after)) = (Fields::parse(&result), Fields::parse(&stripped)) else {
        assert_eq!(stripped.get(), result.get(), "no object has no such fields");
        return;
    };
    for (key, value) in &after.0 {
        assert!(!matches!(key.as_str(), "resultType" | "ttlMs" | "cacheScope"));
        let kept = before
            .0
            .iter()
            .any(|(known, said)| known == key && said.get() == value.get());
        assert!(kept || key == "_meta", "{key} changed in {result}");
    }
}

/// What a server asks is answered with one message, on one line if it was asked on one, under the id it gave.
fn request(text: &str, id: &RawValue, method: &str, params: Option<&RawValue>) {
    let params: Option<Value> = params.and_then(|params| serde_json::from_str(params.get()).ok());
    let declined = question::answer(Elicitation::Decline, params.as_ref());
    assert_eq!(declined, json!({ "action": "decline" }));
    let answered = question::answer(Elicitation::Defaults, params.as_ref());
    for result in [Some(answered), None] {
        let reply = message::reply(id, method, result.clone());
        assert!(
            text.contains(['\n', '\r']) || !reply.contains(['\n', '\r']),
            "{reply}"
        );
        let fields = RawValue::from_string(reply)
            .ok()
            .and_then(|reply| Fields::parse(&reply));
        let fields = fields.expect("a reply is an object");
        assert_eq!(fields.get("id").map(RawValue::get), Some(id.get()));
        assert_eq!(fields.get("result").is_some(), result.is_some());
        assert_eq!(fields.get("error").is_some(), result.is_none());
    }
}

/// The outcome of work that never waits.
fn at_once<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("a slice never waits"),
    }
}
