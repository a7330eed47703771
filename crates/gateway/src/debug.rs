//! What can be looked at while something behaves oddly: records that are always made, at level `debug`, and the
//! environment variables that show them.
//!
//! | variable | shows |
//! |---|---|
//! | `CODECELL_DEBUG_CODE_MODE=1` | what a model sees and what is behind it, at every change |
//! | `CODECELL_DEBUG_MODEL_TRANSPORT=1` | every request of the caller: method, sizes, time |
//! | `CODECELL_DEBUG_MODEL_PAYLOAD=summary`, `tools`, `full-redacted` | the tool list as it leaves: how many, which, all of it |
//! | `CODECELL_DEBUG_SSE=events`, `peek` | event streams of servers: first event and end, the first five events too |
//!
//! Each works under its `OPENCLAW_DEBUG_…` name as well. Unknown values mean off. Secrets are taken out.
use std::time::Duration;

use codecell::GuardReport;
/// Watches one event stream.
pub(crate) use codecell_llm::debug::Watch as Stream;
use codecell_llm::debug::{names, shown};
use serde_json::Value;

/// The targets of the records, one per switch.
const CODE_MODE: &str = "codecell::debug::code_mode";
const TRANSPORT: &str = "codecell::debug::transport";
const PAYLOAD: &str = "codecell::debug::payload";
const SSE: &str = "codecell::debug::sse";

/// How much is said of the tool list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payload {
    Off,
    Summary,
    Tools,
    FullRedacted,
}

/// Reads an environment.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// What a log filter gets in addition, so that the records that were asked for are shown.
pub(crate) fn directives() -> Vec<String> {
    directives_in(&environment)
}

fn directives_in(lookup: Lookup<'_>) -> Vec<String> {
    let on = [
        (CODE_MODE, is_on(lookup, "CODE_MODE")),
        (TRANSPORT, is_on(lookup, "MODEL_TRANSPORT")),
        (PAYLOAD, payload(lookup) != Payload::Off),
        (
            SSE,
            matches!(value(lookup, "SSE").as_deref(), Some("events" | "peek")),
        ),
    ];
    on.into_iter()
        .filter(|(_, on)| *on)
        .map(|(target, _)| format!("{target}=debug"))
        .collect()
}

/// The value of a switch, under our name or the other one.
fn value(lookup: Lookup<'_>, switch: &str) -> Option<String> {
    lookup(&format!("CODECELL_DEBUG_{switch}")).or_else(|| lookup(&format!("OPENCLAW_DEBUG_{switch}")))
}

fn is_on(lookup: Lookup<'_>, switch: &str) -> bool {
    value(lookup, switch).is_some_and(|value| {
        let value = value.trim().to_ascii_lowercase();
        !matches!(value.as_str(), "" | "0" | "false" | "off" | "no")
    })
}

fn payload(lookup: Lookup<'_>) -> Payload {
    match value(lookup, "MODEL_PAYLOAD").as_deref() {
        Some("summary") => Payload::Summary,
        Some("tools") => Payload::Tools,
        Some("full-redacted") => Payload::FullRedacted,
        _ => Payload::Off,
    }
}

/// What a model sees, and what is behind it.
pub(crate) fn surface(visible: &[&str], catalogued: usize, removed: usize) {
    tracing::debug!(
        target: CODE_MODE,
        "count={} names={} catalog={catalogued} removed={removed}",
        visible.len(),
        visible.join(",")
    );
}

/// What the last check left of a provider's body, and what it took out.
pub(crate) fn payload_guard(report: &GuardReport) {
    tracing::debug!(target: CODE_MODE, "{report}");
}

/// One request of the caller.
pub(crate) fn request(method: &str, tool: Option<&str>, answer_bytes: usize, took: Duration) {
    tracing::debug!(target: TRANSPORT, method, tool, answer_bytes, took_ms = took.as_millis(), "answered");
}

/// The tool list as it leaves.
pub(crate) fn tool_list(tools: &[&Value]) {
    if tracing::enabled!(target: PAYLOAD, tracing::Level::DEBUG) {
        // Read at every list, so that a long-lived process can be watched by turns.
        tracing::debug!(target: PAYLOAD, "{}", describe(tools, payload(&environment)));
    }
}

fn describe(tools: &[&Value], mode: Payload) -> String {
    let all: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool.get("name")?.as_str())
        .collect();
    let whole = matches!(mode, Payload::Tools | Payload::FullRedacted);
    let mut text = format!("tools=count={} {}", tools.len(), names(&all, whole));
    if mode == Payload::FullRedacted {
        let body = tools.iter().map(|tool| (*tool).clone()).collect();
        text.push_str(" body=");
        text.push_str(&shown(&Value::Array(body)));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Payload, describe, directives_in};

    #[test]
    fn switches_work_under_both_names_and_unknown_values_mean_off() {
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
        let cases: [Case<'_>; 8] = [
            (&[], &[]),
            (
                &[("CODECELL_DEBUG_CODE_MODE", "1")],
                &["codecell::debug::code_mode=debug"],
            ),
            (
                &[("OPENCLAW_DEBUG_CODE_MODE", "yes")],
                &["codecell::debug::code_mode=debug"],
            ),
            (
                &[
                    ("CODECELL_DEBUG_CODE_MODE", "0"),
                    ("OPENCLAW_DEBUG_CODE_MODE", "1"),
                ],
                &[],
            ),
            (&[("OPENCLAW_DEBUG_MODEL_TRANSPORT", "off")], &[]),
            (&[("CODECELL_DEBUG_MODEL_PAYLOAD", "everything")], &[]),
            (
                &[("CODECELL_DEBUG_MODEL_PAYLOAD", "tools")],
                &["codecell::debug::payload=debug"],
            ),
            (
                &[
                    ("OPENCLAW_DEBUG_SSE", "peek"),
                    ("CODECELL_DEBUG_MODEL_TRANSPORT", "1"),
                ],
                &["codecell::debug::transport=debug", "codecell::debug::sse=debug"],
            ),
        ];
        for (set, expected) in cases {
            let lookup = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(directives_in(&lookup), expected, "{set:?}");
        }
    }

    #[test]
    fn the_tool_list_is_told_as_much_as_was_asked_for_and_without_secrets() {
        let exec = json!({ "name": "exec", "description": "with sk-abcdefghijklmnopqrstuvwxyz0123456789" });
        let wait = json!({ "name": "wait" });
        let tools = [&exec, &wait];
        assert_eq!(
            describe(&tools, Payload::Summary),
            "tools=count=2 sample=exec,wait"
        );
        assert_eq!(describe(&tools, Payload::Tools), "tools=count=2 names=exec,wait");
        assert_eq!(
            describe(&tools, Payload::FullRedacted),
            r#"tools=count=2 names=exec,wait body=[{"name":"exec","description":"with <redacted>"},{"name":"wait"}]"#
        );
    }
}
