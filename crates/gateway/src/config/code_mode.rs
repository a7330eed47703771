use std::path::PathBuf;

use serde_json::Value;

use super::{
    block::clamped,
    problem::{Report, join},
    text::{kind, show},
};

/// Whether code mode was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Switch {
    /// The file does not say: each door has its own default.
    #[default]
    Unset,
    /// A real `true`.
    On,
    /// A real `false`.
    Off,
}

/// The languages a cell may be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Languages {
    /// `javascript` is allowed.
    pub javascript: bool,
    /// `typescript` is allowed.
    pub typescript: bool,
}

/// `tools.codeMode`, defaults filled in and numbers clamped to their ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeModeSettings {
    /// Whether it was switched on.
    pub enabled: Switch,
    /// Allowed languages.
    pub languages: Languages,
    /// Wall-clock budget of one `exec` or `wait`.
    pub timeout_ms: u64,
    /// Memory of one guest.
    pub memory_limit_bytes: u64,
    /// Budget for value, output and error text of one result.
    pub max_output_bytes: u64,
    /// Largest image of a suspended cell.
    pub max_snapshot_bytes: u64,
    /// Nested calls that run at once.
    pub max_pending_tool_calls: u64,
    /// How long a suspended cell is kept.
    pub snapshot_ttl_seconds: u64,
    /// Results of a search that names no limit.
    pub search_default_limit: u64,
    /// Largest limit a search may name.
    pub max_search_limit: u64,
}

impl Default for CodeModeSettings {
    fn default() -> Self {
        Self {
            enabled: Switch::Unset,
            languages: Languages {
                javascript: true,
                typescript: true,
            },
            timeout_ms: 10_000,
            memory_limit_bytes: 64 * 1024 * 1024,
            max_output_bytes: 64 * 1024,
            max_snapshot_bytes: 10 * 1024 * 1024,
            max_pending_tool_calls: 16,
            snapshot_ttl_seconds: 900,
            search_default_limit: 8,
            max_search_limit: 50,
        }
    }
}

/// Reads the block over `settings`; what is wrong is reported and leaves the setting as it was.
pub(super) fn read(value: &Value, path: &str, settings: &mut CodeModeSettings, report: &mut Report<'_>) {
    let block = match value {
        Value::Bool(on) => {
            settings.enabled = switch(*on);
            return;
        }
        Value::Object(block) => block,
        other => {
            report.warning(
                path,
                format!("expected `true`, `false` or an object, got {}", found(other)),
            );
            return;
        }
    };
    for (key, value) in block {
        let path = join(path, key);
        match key.as_str() {
            "enabled" => match value {
                Value::Bool(on) => settings.enabled = switch(*on),
                other => report.warning(
                    &path,
                    format!(
                        "expected `true` or `false`, got {}: only a real `true` enables",
                        found(other)
                    ),
                ),
            },
            "runtime" => only(value, "quickjs-wasi", &path, report),
            "mode" => only(value, "only", &path, report),
            "languages" => languages(value, &path, &mut settings.languages, report),
            "timeoutMs" => number(value, 100, 60_000, &path, &mut settings.timeout_ms, report),
            "memoryLimitBytes" => {
                number(
                    value,
                    1_048_576,
                    1_073_741_824,
                    &path,
                    &mut settings.memory_limit_bytes,
                    report,
                );
            }
            "maxOutputBytes" => number(
                value,
                1024,
                10_485_760,
                &path,
                &mut settings.max_output_bytes,
                report,
            ),
            "maxSnapshotBytes" => {
                number(
                    value,
                    1024,
                    268_435_456,
                    &path,
                    &mut settings.max_snapshot_bytes,
                    report,
                );
            }
            "maxPendingToolCalls" => {
                number(value, 1, 128, &path, &mut settings.max_pending_tool_calls, report);
            }
            "snapshotTtlSeconds" => number(
                value,
                1,
                86_400,
                &path,
                &mut settings.snapshot_ttl_seconds,
                report,
            ),
            // Its upper end is another setting, so it is clamped once both are known.
            "searchDefaultLimit" => number(value, 1, 50, &path, &mut settings.search_default_limit, report),
            "maxSearchLimit" => number(value, 1, 50, &path, &mut settings.max_search_limit, report),
            _ => report.warning(
                &path,
                format!("unknown setting, ignored; known are {}", KNOWN.join(", ")),
            ),
        }
    }
    settings.search_default_limit = settings.search_default_limit.min(settings.max_search_limit);
}

/// `settings` with `value` read over them. What is wrong with it was reported when the file was read.
pub(super) fn over(settings: &CodeModeSettings, value: &Value) -> CodeModeSettings {
    let mut merged = settings.clone();
    let mut known = Vec::new();
    let mut report = Report {
        file: PathBuf::new(),
        problems: &mut known,
    };
    read(value, "", &mut merged, &mut report);
    merged
}

const KNOWN: [&str; 12] = [
    "enabled",
    "runtime",
    "mode",
    "languages",
    "timeoutMs",
    "memoryLimitBytes",
    "maxOutputBytes",
    "maxSnapshotBytes",
    "maxPendingToolCalls",
    "snapshotTtlSeconds",
    "searchDefaultLimit",
    "maxSearchLimit",
];

fn switch(on: bool) -> Switch {
    if on { Switch::On } else { Switch::Off }
}

fn found(value: &Value) -> String {
    format!("{} `{}`", kind(value), show(value))
}

fn only(value: &Value, allowed: &str, path: &str, report: &mut Report<'_>) {
    if value.as_str() != Some(allowed) {
        report.warning(
            path,
            format!("the only value is `{allowed}`, got {}", found(value)),
        );
    }
}

fn number(value: &Value, least: u64, most: u64, path: &str, slot: &mut u64, report: &mut Report<'_>) {
    if let Some(number) = clamped(value, least, most, path, report) {
        *slot = number;
    }
}

fn languages(value: &Value, path: &str, slot: &mut Languages, report: &mut Report<'_>) {
    let Value::Array(list) = value else {
        report.warning(
            path,
            format!("expected an array of language names, got {}", found(value)),
        );
        return;
    };
    let mut chosen = Languages {
        javascript: false,
        typescript: false,
    };
    for (index, item) in list.iter().enumerate() {
        match item.as_str() {
            Some("javascript") => chosen.javascript = true,
            Some("typescript") => chosen.typescript = true,
            _ => report.warning(
                &format!("{path}[{index}]"),
                format!("expected `javascript` or `typescript`, got {}", found(item)),
            ),
        }
    }
    if chosen.javascript || chosen.typescript {
        *slot = chosen;
    } else {
        report.warning(path, "names no known language, so both stay allowed");
    }
}
