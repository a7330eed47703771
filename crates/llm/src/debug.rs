//! Records of what goes out and comes in, all at level `debug`: whoever shows the logs decides which are shown.
//!
//! Two variables decide what a record says, under their `OPENCLAW_…` names as well: with
//! `CODECELL_DEBUG_MODEL_PAYLOAD` `tools` or `full-redacted` all names and the body are in it, with
//! `CODECELL_DEBUG_SSE=peek` the first five events of a stream are. Event streams and bodies of other origin are told
//! in the same words.
//!
//! ```
//! use codecell_llm::debug;
//! use serde_json::json;
//!
//! assert_eq!(debug::names(&["exec", "wait"], false), "sample=exec,wait");
//! let body = json!([{ "key": "sk-abcdefghijklmnopqrstuvwxyz0123456789" }]);
//! assert_eq!(debug::shown(&body), r#"[{"key":"<redacted>"}]"#);
//! ```

use codecell_trajectory::Redactor;
use serde_json::Value;

pub(crate) const TRANSPORT: &str = "codecell::debug::transport";
const PAYLOAD: &str = "codecell::debug::payload";
const SSE: &str = "codecell::debug::sse";

const MAX_PAYLOAD_CHARS: usize = 8_000;
const MAX_EVENT_CHARS: usize = 2_000;
const PEEKED_EVENTS: usize = 5;
const SAMPLED_NAMES: usize = 12;

/// Read at every request, so that a long-lived process can be watched by turns.
fn variable(switch: &str) -> Option<String> {
    ["CODECELL", "OPENCLAW"]
        .into_iter()
        .find_map(|owner| std::env::var(format!("{owner}_DEBUG_{switch}")).ok())
}

pub(crate) fn body(body: &Value, model: &str) {
    if tracing::enabled!(target: PAYLOAD, tracing::Level::DEBUG) {
        let mode = variable("MODEL_PAYLOAD").unwrap_or_default();
        tracing::debug!(target: PAYLOAD, "{}", describe(body, model, &mode));
    }
}

fn describe(body: &Value, model: &str, mode: &str) -> String {
    let fields: Vec<&str> = body
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect();
    let items = ["input", "messages", "contents"]
        .into_iter()
        .find_map(|key| body.get(key)?.as_array());
    let roles: Vec<&str> = items
        .into_iter()
        .flatten()
        .filter_map(|item| item.get("role").or_else(|| item.get("type"))?.as_str())
        .collect();
    let tools = tool_names(body);
    let mut text = format!(
        "fields={} model={model} inputItems={} inputRoles={} tools=count={} {}",
        or_empty(&fields.join(",")),
        items.map_or(0, Vec::len),
        or_empty(&roles.join(",")),
        tools.len(),
        names(&tools, matches!(mode, "tools" | "full-redacted")),
    );
    if mode == "full-redacted" {
        text.push_str(" body=");
        text.push_str(&shown(body));
    }
    text
}

/// Names of tools: all of them, or the first twelve as a sample.
#[must_use]
pub fn names(names: &[&str], all: bool) -> String {
    let (label, most) = if all {
        ("names", names.len())
    } else {
        ("sample", SAMPLED_NAMES)
    };
    let shown: Vec<&str> = names.iter().take(most).copied().collect();
    format!("{label}={}", or_empty(&shown.join(",")))
}

/// A body without its secrets, at most 8,000 characters of it.
#[must_use]
pub fn shown(body: &Value) -> String {
    head(&Redactor::default().value(body).to_string(), MAX_PAYLOAD_CHARS)
}

fn or_empty(text: &str) -> &str {
    if text.is_empty() { "<empty>" } else { text }
}

fn tool_names(body: &Value) -> Vec<&str> {
    let listed = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let mut names = Vec::new();
    for tool in listed {
        let grouped = tool.get("functionDeclarations").and_then(Value::as_array);
        let plain = tool.get("function").unwrap_or(tool);
        let each = grouped.map_or_else(|| std::slice::from_ref(plain), Vec::as_slice);
        names.extend(each.iter().filter_map(|tool| tool.get("name")?.as_str()));
    }
    names
}

/// Watches one event stream, from its first event until it is dropped.
#[derive(Debug, Default)]
pub struct Watch {
    events: usize,
}

impl Watch {
    /// An event has come.
    pub fn event(&mut self, data: &str) {
        self.events += 1;
        if self.events > PEEKED_EVENTS || !tracing::enabled!(target: SSE, tracing::Level::DEBUG) {
            return;
        }
        let number = self.events;
        if variable("SSE").as_deref() == Some("peek") {
            let shown = head(&Redactor::default().text(data), MAX_EVENT_CHARS);
            tracing::debug!(target: SSE, number, bytes = data.len(), "event: {shown}");
        } else if number == 1 {
            tracing::debug!(target: SSE, bytes = data.len(), "first event");
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        tracing::debug!(target: SSE, events = self.events, "the stream ended");
    }
}

/// The first `most` characters, marked when there were more.
pub(crate) fn head(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...<truncated>", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_is_described_as_the_mode_wants() {
        let body = json!({
            "messages": [{ "role": "user", "content": "hi" }],
            "tools": [{ "name": "exec" }, { "name": "wait" }],
        });
        let start = "fields=messages,tools model=m inputItems=1 inputRoles=user tools=count=2";
        assert_eq!(
            describe(&body, "m", "summary"),
            format!("{start} sample=exec,wait")
        );
        assert_eq!(describe(&body, "m", "tools"), format!("{start} names=exec,wait"));
        assert_eq!(
            describe(&body, "m", "full-redacted"),
            format!("{start} names=exec,wait body={body}"),
        );
        let google =
            json!({ "tools": [{ "functionDeclarations": [{ "name": "exec" }, { "name": "wait" }] }] });
        assert!(describe(&google, "m", "tools").ends_with("count=2 names=exec,wait"));
    }
}
