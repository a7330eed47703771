//! `tools` of our own configuration: which tools there are, who may use them, and what a person has to approve.
use std::path::{Path, PathBuf};
use std::time::Duration;

use codecell::tools::{Restrictions, Step, ToolLists};
use serde_json::Value;

use super::block::{Block, Wrong, complain};
use super::problem::Report;

/// How long a question to a person stays open unless the configuration says otherwise.
const DEFAULT_APPROVAL_SECONDS: u64 = 120;

/// Longest time limit of a shell command, in milliseconds.
const MAX_EXEC_MS: u64 = 3_600_000;

/// `tools`, without `codeMode`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSettings {
    /// `allow`, `alsoAllow` and `deny`.
    pub lists: ToolLists,
    /// `sandbox.tools`: the second gate, for sandboxed agents.
    pub sandbox: ToolLists,
    /// `approvals.ask`: tools that a person has to approve, call by call.
    pub ask: Vec<String>,
    /// `approvals.timeoutSeconds`: how long a question stays open.
    pub approval_time: Duration,
    /// `loopDetection.enabled`: whether a run that repeats one call over and over is stopped.
    pub loop_detection: bool,
    /// `fs.roots`: the folders that the file tools see. Without any there are no file tools.
    pub roots: Vec<Root>,
    /// `exec`: the shell, if it is enabled.
    pub exec: Option<ExecSettings>,
    /// `web.fetch`: the fetcher, if it is enabled.
    pub web_fetch: Option<WebFetchSettings>,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            lists: ToolLists::default(),
            sandbox: ToolLists::default(),
            ask: Vec::new(),
            approval_time: Duration::from_secs(DEFAULT_APPROVAL_SECONDS),
            loop_detection: false,
            roots: Vec::new(),
            exec: None,
            web_fetch: None,
        }
    }
}

/// A folder that the file tools see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The folder; a relative one starts at the configuration file.
    pub path: PathBuf,
    /// Whether files in it may be changed.
    pub writable: bool,
}

/// `tools.exec`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecSettings {
    /// Time limit of a command that asks for none, and the most it may ask for.
    pub timeout: Option<Duration>,
    /// Names of environment variables that commands get beside the few that every program needs.
    pub env: Vec<String>,
}

/// `tools.web.fetch`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebFetchSettings {
    /// Hosts that may be fetched from although their address is private.
    pub private_hosts: Vec<String>,
}

/// Reads the block. `codeMode` is left to its own reader.
pub(super) fn read(value: &Value, path: &str, settings: &mut ToolSettings, report: &mut Report<'_>) {
    let Some(mut block) = Block::open(value, path, Wrong::Fatal, report) else {
        return;
    };
    let _read_elsewhere = block.get("codeMode");
    settings.lists = lists(&mut block);
    check_step(&settings.lists, path, block.report());
    if let Some((path, value)) = block.get("sandbox") {
        settings.sandbox = sandbox(value, &path, block.report());
    }
    if let Some((path, value)) = block.get("approvals") {
        approvals(value, &path, settings, block.report());
    }
    if let Some((path, value)) = block.get("loopDetection") {
        settings.loop_detection = enabled(value, &path, block.report());
    }
    if let Some((path, value)) = block.get("fs") {
        settings.roots = roots(value, &path, block.report());
    }
    if let Some((path, value)) = block.get("exec") {
        settings.exec = exec(value, &path, block.report());
    }
    if let Some((path, value)) = block.get("web") {
        settings.web_fetch = web(value, &path, block.report());
    }
    block.finish();
}

/// `allow`, `alsoAllow` and `deny` of one scope.
pub(super) fn lists(block: &mut Block<'_, '_, '_>) -> ToolLists {
    ToolLists {
        allow: block.texts("allow", Wrong::Fatal),
        also_allow: block.texts("alsoAllow", Wrong::Fatal).unwrap_or_default(),
        deny: block.texts("deny", Wrong::Fatal),
    }
}

/// Reports what makes lists unusable. The step itself is built where the tools are.
pub(super) fn check_step(lists: &ToolLists, path: &str, report: &mut Report<'_>) {
    if let Err(error) = Step::new(path, path, lists) {
        report.error(path, error.to_string());
        return;
    }
    let denied = lists.deny.as_deref().unwrap_or_default();
    for entry in lists.allow.as_deref().unwrap_or_default() {
        if denied.iter().any(|other| other.eq_ignore_ascii_case(entry)) {
            report.warning(path, format!("`{entry}` is both allowed and denied; deny wins"));
        }
    }
}

/// `sandbox: { tools: { … } }` of a `tools` block.
pub(super) fn sandbox(value: &Value, path: &str, report: &mut Report<'_>) -> ToolLists {
    let Some(mut block) = Block::open(value, path, Wrong::Fatal, report) else {
        return ToolLists::default();
    };
    let mut found = ToolLists::default();
    if let Some((path, value)) = block.get("tools")
        && let Some(mut block) = Block::open(value, &path, Wrong::Fatal, block.report())
    {
        found = lists(&mut block);
        check_step(&found, &path, block.report());
        block.finish();
    }
    block.finish();
    found
}

fn approvals(value: &Value, path: &str, settings: &mut ToolSettings, report: &mut Report<'_>) {
    let Some(mut block) = Block::open(value, path, Wrong::Fatal, report) else {
        return;
    };
    if let Some(ask) = block.texts("ask", Wrong::Fatal) {
        if let Err(error) = Restrictions::parse(&ask) {
            let path = block.at("ask");
            block.report().error(&path, error.to_string());
        }
        settings.ask = ask;
    }
    if let Some(seconds) = block.number("timeoutSeconds", 1, 1_800) {
        settings.approval_time = Duration::from_secs(seconds);
    }
    block.finish();
}

/// A switch that may also be written as an object with `enabled`.
fn enabled(value: &Value, path: &str, report: &mut Report<'_>) -> bool {
    if let Value::Bool(on) = value {
        return *on;
    }
    let Some(mut block) = Block::open(value, path, Wrong::Ignored, report) else {
        return false;
    };
    let on = block.switch("enabled", Wrong::Ignored).unwrap_or(false);
    block.finish();
    on
}

fn roots(value: &Value, path: &str, report: &mut Report<'_>) -> Vec<Root> {
    let Some(mut block) = Block::open(value, path, Wrong::Ignored, report) else {
        return Vec::new();
    };
    let mut roots = Vec::new();
    if let Some((path, value)) = block.get("roots") {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    roots.extend(root(item, &format!("{path}[{index}]"), block.report()));
                }
            }
            other => complain(Wrong::Fatal, &path, "an array of folders", other, block.report()),
        }
    }
    block.finish();
    roots
}

/// A folder: its path alone, or an object that says more.
fn root(value: &Value, path: &str, report: &mut Report<'_>) -> Option<Root> {
    let folder = |text: &str, report: &Report<'_>| {
        report
            .file
            .parent()
            .unwrap_or(Path::new(""))
            .join(expand_home(text))
    };
    if let Value::String(text) = value {
        return Some(Root {
            path: folder(text, report),
            writable: false,
        });
    }
    let mut block = Block::open(value, path, Wrong::Fatal, report)?;
    let text = block.text("path", Wrong::Fatal);
    let writable = block.switch("writable", Wrong::Fatal).unwrap_or(false);
    if text.is_none() {
        let path = block.at("path");
        block.report().error(&path, "names no folder");
    }
    let root = text.map(|text| Root {
        path: folder(&text, block.report()),
        writable,
    });
    block.finish();
    root
}

/// `~` means the user's home in every shell, so people write it here as well.
fn expand_home(text: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    match text.strip_prefix('~') {
        Some("") => home().unwrap_or_else(|| text.into()),
        Some(rest) if rest.starts_with('/') => {
            home().map_or_else(|| text.into(), |home| home.join(rest.trim_start_matches('/')))
        }
        _ => text.into(),
    }
}

fn exec(value: &Value, path: &str, report: &mut Report<'_>) -> Option<ExecSettings> {
    if let Value::Bool(on) = value {
        return on.then(ExecSettings::default);
    }
    let mut block = Block::open(value, path, Wrong::Ignored, report)?;
    let on = block.switch("enabled", Wrong::Ignored).unwrap_or(false);
    let settings = ExecSettings {
        timeout: block
            .number("timeoutMs", 100, MAX_EXEC_MS)
            .map(Duration::from_millis),
        env: block.texts("env", Wrong::Ignored).unwrap_or_default(),
    };
    block.finish();
    on.then_some(settings)
}

fn web(value: &Value, path: &str, report: &mut Report<'_>) -> Option<WebFetchSettings> {
    let mut block = Block::open(value, path, Wrong::Ignored, report)?;
    let mut found = None;
    if let Some((path, value)) = block.get("fetch") {
        found = fetch(value, &path, block.report());
    }
    block.finish();
    found
}

fn fetch(value: &Value, path: &str, report: &mut Report<'_>) -> Option<WebFetchSettings> {
    if let Value::Bool(on) = value {
        return on.then(WebFetchSettings::default);
    }
    let mut block = Block::open(value, path, Wrong::Ignored, report)?;
    let on = block.switch("enabled", Wrong::Ignored).unwrap_or(false);
    let private_hosts = block.texts("privateHosts", Wrong::Ignored).unwrap_or_default();
    block.finish();
    on.then_some(WebFetchSettings { private_hosts })
}
