use serde_json::{Map, Value};

use crate::redact::Redactor;

/// How much is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one line.
    pub line_bytes: usize,
    /// Characters of one string.
    pub string_chars: usize,
    /// Items of one array, properties of one object.
    pub items: usize,
    /// Arrays and objects inside each other, `data` itself included.
    pub depth: usize,
    /// Bytes of a whole session. The line that says so and the end of the session come on top.
    pub session_bytes: u64,
    /// Events of a whole session, with the same two on top.
    pub session_events: u64,
}

impl Default for Limits {
    /// 256 KiB a line, strings of 32,768 characters, 64 items, 6 levels; 10 MiB or 200,000 events a session.
    fn default() -> Self {
        Self {
            line_bytes: 256 << 10,
            string_chars: 32_768,
            items: 64,
            depth: 6,
            session_bytes: 10 << 20,
            session_events: 200_000,
        }
    }
}

/// What a line needs beside its data, and what notes of missing parts take.
const ENVELOPE_BYTES: usize = 4 << 10;

/// Longest key of an object: a key is no place for content.
const MAX_KEY_CHARS: usize = 256;

impl Limits {
    /// `value` without secrets and within the limits of one line. What is missing says how much it was.
    pub(crate) fn applied(&self, value: &Value, redactor: &Redactor) -> Value {
        let mut walk = Walk {
            limits: self,
            redactor,
            left: self.line_bytes - ENVELOPE_BYTES.min(self.line_bytes / 4),
        };
        walk.value(value, 0)
    }
}

/// One pass over a value. It copies only what is kept, so a huge answer costs no huge copy.
struct Walk<'a> {
    limits: &'a Limits,
    redactor: &'a Redactor,
    /// Bytes of JSON until the line is full.
    left: usize,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.left = self.left.saturating_sub(8);
                value.clone()
            }
            Value::String(text) => Value::String(self.string(text)),
            Value::Array(_) | Value::Object(_) if depth >= self.limits.depth => Value::from("<too deep>"),
            Value::Array(items) => self.array(items, depth),
            Value::Object(map) => Value::Object(self.object(map, depth)),
        }
    }

    fn string(&mut self, text: &str) -> String {
        let limit = self.limits.string_chars;
        // Secrets are found before the text is cut, or half of one could stay. What is far beyond the cut cannot.
        let near = head(text, limit.saturating_mul(2).saturating_add(1_024));
        let redacted = self.redactor.text(near);
        let (kept, bytes) = fitting(&redacted, limit, self.left);
        self.left = self.left.saturating_sub(bytes + 4);
        if kept.len() == redacted.len() && near.len() == text.len() {
            redacted
        } else {
            let gone = text.chars().count().saturating_sub(kept.chars().count());
            format!("{kept}<{gone} more characters>")
        }
    }

    fn array(&mut self, items: &[Value], depth: usize) -> Value {
        let mut kept = Vec::new();
        let mut flag = false;
        for item in items {
            if kept.len() == self.limits.items || self.left == 0 {
                kept.push(Value::from(format!("<{} more items>", items.len() - kept.len())));
                break;
            }
            let secret = std::mem::replace(&mut flag, Redactor::is_secret_flag(item));
            kept.push(if secret && item.is_string() {
                Redactor::hidden()
            } else {
                self.value(item, depth + 1)
            });
        }
        Value::Array(kept)
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut kept = Map::new();
        for (position, (key, value)) in map.iter().enumerate() {
            if position == self.limits.items || self.left == 0 {
                let more = format!("{} more properties", map.len() - position);
                kept.insert("<truncated>".to_owned(), more.into());
                break;
            }
            let bounded = match Redactor::hides(map, key, value) {
                Some(hidden) => hidden,
                None => self.value(value, depth + 1),
            };
            let mut key = head(&self.redactor.text(head(key, MAX_KEY_CHARS * 2)), MAX_KEY_CHARS).to_owned();
            while kept.contains_key(&key) {
                key.push('_');
            }
            self.left = self.left.saturating_sub(key.len() + 4);
            kept.insert(key, bounded);
        }
        kept
    }
}

/// As much of `text` as has at most `chars` characters and takes at most `bytes` in JSON, and what it takes.
fn fitting(text: &str, chars: usize, bytes: usize) -> (&str, usize) {
    let mut taken = 0;
    for (count, (at, ch)) in text.char_indices().enumerate() {
        let needed = match ch {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            ch if ch < ' ' => 6,
            ch => ch.len_utf8(),
        };
        if count == chars || taken + needed > bytes {
            return (text.get(..at).unwrap_or(text), taken);
        }
        taken += needed;
    }
    (text, taken)
}

/// The first `chars` characters.
fn head(text: &str, chars: usize) -> &str {
    match text.char_indices().nth(chars) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}
