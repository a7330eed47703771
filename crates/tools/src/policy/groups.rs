//! Names that stand for several tools.

const RUNTIME: &[&str] = &["exec", "process", "code_execution"];
/// `ls`, `glob` and `grep` read files too: who denies the file tools does not want them left.
const FS: &[&str] = &["read", "write", "edit", "apply_patch", "ls", "glob", "grep"];
const SESSIONS: &[&str] = &[
    "sessions",
    "sessions_list",
    "sessions_history",
    "sessions_search",
    "conversations_list",
    "conversations_send",
    "conversations_turn",
    "sessions_send",
    "sessions_spawn",
    "sessions_yield",
    "subagents",
    "session_status",
    "spawn_task",
    "dismiss_task",
];
const MEMORY: &[&str] = &["memory_search", "memory_get"];
const WEB: &[&str] = &["web_search", "x_search", "web_fetch"];
const UI: &[&str] = &["browser", "screen", "terminal", "canvas", "show_widget"];
const AUTOMATION: &[&str] = &["heartbeat_respond", "cron", "gateway"];
const MESSAGING: &[&str] = &["message"];
const NODES: &[&str] = &["nodes", "computer"];
const AGENTS: &[&str] = &[
    "agents_list",
    "get_goal",
    "create_goal",
    "update_goal",
    "update_plan",
    "ask_user",
    "skill_workshop",
];
const MEDIA: &[&str] = &[
    "image",
    "image_generate",
    "music_generate",
    "video_generate",
    "tts",
];

/// The groups that are lists of names.
const NAMED: [(&str, &[&str]); 11] = [
    ("runtime", RUNTIME),
    ("fs", FS),
    ("sessions", SESSIONS),
    ("memory", MEMORY),
    ("web", WEB),
    ("ui", UI),
    ("automation", AUTOMATION),
    ("messaging", MESSAGING),
    ("nodes", NODES),
    ("agents", AGENTS),
    ("media", MEDIA),
];

/// Built-ins that `group:openclaw` leaves out beside the file tools.
const NOT_IN_OPENCLAW: [&str; 3] = ["exec", "process", "canvas"];

/// Every group there is, for messages.
pub(super) const ALL: &str = "core, plugins, openclaw, runtime, fs, sessions, memory, web, ui, automation, \
                              messaging, nodes, agents, media";

/// The names of the group `name`, if it is a list of names.
pub(super) fn members(name: &str) -> Option<Vec<&'static str>> {
    if name == "openclaw" {
        let all = NAMED.iter().filter(|(group, _)| *group != "fs");
        let members = all.flat_map(|(_, members)| members.iter().copied());
        return Some(members.filter(|tool| !NOT_IN_OPENCLAW.contains(tool)).collect());
    }
    let (_, members) = NAMED.iter().find(|(group, _)| *group == name)?;
    Some(members.to_vec())
}

/// What a sandboxed agent may use when nobody says otherwise.
pub(super) const SANDBOX_ALLOW: [&str; 6] = [
    "exec",
    "process",
    "group:fs",
    "image",
    "group:sessions",
    "group:memory",
];

/// What a sandboxed agent may not use when nobody says otherwise: these reach out of the sandbox.
pub(super) const SANDBOX_DENY: [&str; 6] = ["browser", "canvas", "nodes", "cron", "gateway", "message"];
