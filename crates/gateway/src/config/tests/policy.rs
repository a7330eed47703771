//! `tools`: what is understood, and what is said of what is not. And every mistake that forbids to start.
use std::{path::PathBuf, time::Duration};

use codecell::tools::ToolLists;

use super::super::*;
use super::{problems, read};

pub(super) fn own(text: &str) -> Loaded {
    read(Shape::Own, text)
}

/// `tools` alone.
fn tools(text: &str) -> (ToolSettings, Vec<String>) {
    let loaded = own(&format!("{{ tools: {text} }}"));
    let problems = problems(&loaded);
    (loaded.config.tools, problems)
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

pub(super) fn lists(allow: Option<&[&str]>, also_allow: &[&str], deny: Option<&[&str]>) -> ToolLists {
    ToolLists {
        allow: allow.map(texts),
        also_allow: texts(also_allow),
        deny: deny.map(texts),
    }
}

fn root(path: impl Into<PathBuf>, writable: bool) -> Root {
    let path = path.into();
    Root { path, writable }
}

#[test]
fn everything_that_tools_can_say_is_read() {
    let (settings, problems) = tools(
        r#"{
            codeMode: true,
            allow: ["group:core", "bundle-mcp"],
            deny: ["write", "hint:destructive"],
            sandbox: { tools: { alsoAllow: ["bundle-mcp"], deny: [] } },
            approvals: { ask: ["exec", "mcp:shop:*", "hint:not-read-only"], timeoutSeconds: 30 },
            loopDetection: { enabled: true },
            fs: { roots: ["src", "/abs", { path: "notes", writable: true }, { path: "docs" }] },
            exec: { enabled: true, timeoutMs: 5000, env: ["GH_TOKEN"] },
            web: { fetch: { enabled: true, privateHosts: ["localhost:8080"] } },
        }"#,
    );
    let expected = ToolSettings {
        lists: lists(
            Some(&["group:core", "bundle-mcp"]),
            &[],
            Some(&["write", "hint:destructive"]),
        ),
        sandbox: lists(None, &["bundle-mcp"], Some(&[])),
        ask: texts(&["exec", "mcp:shop:*", "hint:not-read-only"]),
        approval_time: Duration::from_secs(30),
        loop_detection: true,
        roots: vec![
            root("dir/src", false),
            root("/abs", false),
            root("dir/notes", true),
            root("dir/docs", false),
        ],
        exec: Some(ExecSettings {
            timeout: Some(Duration::from_secs(5)),
            env: texts(&["GH_TOKEN"]),
        }),
        web_fetch: Some(WebFetchSettings {
            private_hosts: texts(&["localhost:8080"]),
        }),
    };
    assert_eq!((settings, problems), (expected, vec![]));
}

#[test]
fn short_forms_switch_and_what_is_not_said_stays_off() {
    let off = ToolSettings::default();
    assert_eq!(
        off.approval_time,
        Duration::from_secs(120),
        "a question is open for two minutes"
    );
    let also_allow = lists(None, &["lookup"], None);
    for (text, expected) in [
        ("{}", off.clone()),
        (
            "{ allow: null, exec: null, fs: null, web: null, sandbox: null, approvals: null }",
            off.clone(),
        ),
        (
            "{ loopDetection: false, exec: false, web: { fetch: false } }",
            off.clone(),
        ),
        (
            "{ loopDetection: {}, exec: { timeoutMs: 5000 }, web: { fetch: {} } }",
            off.clone(),
        ),
        (
            "{ loopDetection: true, exec: true, web: { fetch: true } }",
            ToolSettings {
                loop_detection: true,
                exec: Some(ExecSettings::default()),
                web_fetch: Some(WebFetchSettings::default()),
                ..off.clone()
            },
        ),
        (
            "{ allow: [] }",
            ToolSettings {
                lists: lists(Some(&[]), &[], None),
                ..off.clone()
            },
        ),
        (
            "{ alsoAllow: ['lookup'] }",
            ToolSettings {
                lists: also_allow,
                ..off.clone()
            },
        ),
    ] {
        assert_eq!(tools(text), (expected, vec![]), "{text}");
    }
}

#[test]
fn a_tilde_is_the_users_home() {
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else {
        return;
    };
    let (settings, problems) = tools("{ fs: { roots: ['~', '~/work', '~ann/work'] } }");
    let expected = vec![
        root(home.clone(), false),
        root(home.join("work"), false),
        root("dir/~ann/work", false),
    ];
    assert_eq!((settings.roots, problems), (expected, vec![]));
}

#[test]
fn a_policy_that_cannot_be_read_is_an_error_with_its_path() {
    for (text, expected) in [
        (
            "{ tools: { deny: 'exec' } }",
            "error tools.deny: expected an array of strings, got a string `\"exec\"`",
        ),
        (
            "{ tools: { allow: { read: true } } }",
            "error tools.allow: expected an array of strings, got an object `{\"read\":true}`",
        ),
        (
            "{ tools: { alsoAllow: true } }",
            "error tools.alsoAllow: expected an array of strings, got a boolean `true`",
        ),
        (
            "{ tools: { deny: ['exec', 7] } }",
            "error tools.deny[1]: expected a string, got a number `7`",
        ),
        (
            "{ tools: ['exec'] }",
            "error tools: expected an object, got an array",
        ),
        (
            "{ tools: { deny: ['group:nope'] } }",
            "error tools: `tools.deny`: there is no tool group `group:nope`; the groups are core, plugins, openclaw, runtime, \
             fs, sessions, memory, web, ui, automation, messaging, nodes, agents, media",
        ),
        (
            "{ tools: { allow: ['hint:destructive'] } }",
            "error tools: `tools.allow`: `hint:destructive` grants nothing: a tool's own hint can be denied or asked about, \
             not allowed",
        ),
        (
            "{ tools: { deny: ['hint:scary'] } }",
            "error tools: `tools.deny`: there is no `hint:scary`; the hints are hint:destructive, hint:open-world and \
             hint:not-read-only",
        ),
        (
            "{ tools: { deny: ['plugin:shipping'] } }",
            "error tools: `tools.deny`: `plugin:shipping` selects nothing; before a `:` may stand group, hint, openclaw, mcp \
             or client",
        ),
        (
            "{ tools: { alsoAllow: ['  '] } }",
            "error tools: `tools.alsoAllow`: a tool selector is blank; remove it, or name a tool, a group or `*`",
        ),
        (
            "{ tools: { allow: ['read'], alsoAllow: ['write'] } }",
            "error tools: `tools` has both `allow` and `alsoAllow`; put everything into `allow`, or use `alsoAllow` alone",
        ),
        (
            "{ tools: { sandbox: 'all' } }",
            "error tools.sandbox: expected an object, got a string `\"all\"`",
        ),
        (
            "{ tools: { sandbox: { tools: ['read'] } } }",
            "error tools.sandbox.tools: expected an object, got an array `[\"read\"]`",
        ),
        (
            "{ tools: { sandbox: { tools: { allow: ['group:nope'], deny: [] } } } }",
            "error tools.sandbox.tools: `tools.sandbox.tools.allow`: there is no tool group `group:nope`; the groups are core, \
             plugins, openclaw, runtime, fs, sessions, memory, web, ui, automation, messaging, nodes, agents, media",
        ),
        (
            "{ tools: { approvals: ['exec'] } }",
            "error tools.approvals: expected an object, got an array `[\"exec\"]`",
        ),
        (
            "{ tools: { approvals: { ask: 'exec' } } }",
            "error tools.approvals.ask: expected an array of strings, got a string `\"exec\"`",
        ),
        (
            "{ tools: { approvals: { ask: ['group:'] } } }",
            "error tools.approvals.ask: there is no tool group `group:`; the groups are core, plugins, openclaw, runtime, fs, \
             sessions, memory, web, ui, automation, messaging, nodes, agents, media",
        ),
        (
            "{ tools: { fs: { roots: '/srv' } } }",
            "error tools.fs.roots: expected an array of folders, got a string `\"/srv\"`",
        ),
        (
            "{ tools: { fs: { roots: ['a', 7] } } }",
            "error tools.fs.roots[1]: expected an object, got a number `7`",
        ),
        (
            "{ tools: { fs: { roots: [{ writable: true }] } } }",
            "error tools.fs.roots[0].path: names no folder",
        ),
        (
            "{ tools: { fs: { roots: [{ path: 'a', writable: 'yes' }] } } }",
            "error tools.fs.roots[0].writable: expected `true` or `false`, got a string `\"yes\"`",
        ),
        (
            "{ agents: ['main'] }",
            "error agents: expected an object, got an array `[\"main\"]`",
        ),
        (
            "{ agents: { entries: ['main'] } }",
            "error agents.entries: expected an object of agents by id, got an array `[\"main\"]`",
        ),
        (
            "{ agents: { entries: { box: 'all' } } }",
            "error agents.entries.box: expected an object, got a string `\"all\"`",
        ),
        (
            "{ agents: { entries: { box: { sandbox: { mode: 'on' } } } } }",
            "error agents.entries.box.sandbox.mode: expected `off`, `non-main` or `all`, got a string `\"on\"`",
        ),
        (
            "{ agents: { defaults: { sandbox: true } } }",
            "error agents.defaults.sandbox: expected an object, got a boolean `true`",
        ),
        (
            "{ agents: { entries: { 'a.b': { tools: { deny: 'exec' } } } } }",
            "error agents.entries.\"a.b\".tools.deny: expected an array of strings, got a string `\"exec\"`",
        ),
        (
            "{ agents: { entries: { box: { tools: { allow: ['a'], alsoAllow: ['b'] } } } } }",
            "error agents.entries.box.tools: `agents.entries.box.tools` has both `allow` and `alsoAllow`; put everything into \
             `allow`, or use `alsoAllow` alone",
        ),
        (
            "{ agents: { list: {} } }",
            "error agents.list: expected an array of agents, got an object `{}`",
        ),
        (
            "{ agents: { list: [{ model: 'a/b' }] } }",
            "error agents.list[0]: an agent of the list needs an `id`",
        ),
        (
            "{ agents: { list: [{ id: 'x', tools: [] }] } }",
            "error agents.list[0].tools: expected an object, got an array `[]`",
        ),
        (
            "{ plugins: [] }",
            "error plugins: expected an object, got an array `[]`",
        ),
        (
            "{ plugins: { entries: ['x'] } }",
            "error plugins.entries: expected an object of plugins by id, got an array `[\"x\"]`",
        ),
        (
            "{ plugins: { entries: { x: { enabled: 'no' } } } }",
            "error plugins.entries.x.enabled: expected `true` or `false`, got a string `\"no\"`",
        ),
    ] {
        assert_eq!(problems(&own(text)), [expected], "{text}");
    }
}

#[test]
fn what_forbids_nothing_is_a_warning_and_keeps_its_default() {
    let (settings, problems) = tools(
        r#"{
            approvals: { ask: ["exec"], timeoutSeconds: "soon", retries: 2 },
            loopDetection: 1,
            exec: { enabled: "yes", env: "PATH" },
            web: { fetch: { enabled: true, privateHosts: "localhost" }, search: {} },
            fs: { roots: [{ path: "a", mode: "rw" }], root: "/" },
            sandbox: { mode: "all", tools: { also: [] } },
            profile: "coding",
        }"#,
    );
    let expected = ToolSettings {
        ask: texts(&["exec"]),
        roots: vec![root("dir/a", false)],
        web_fetch: Some(WebFetchSettings::default()),
        ..ToolSettings::default()
    };
    assert_eq!(settings, expected);
    let known = "codeMode, allow, alsoAllow, deny, sandbox, approvals, loopDetection, fs, exec, web";
    assert_eq!(
        problems,
        [
            "warning tools.sandbox.tools.also: unknown setting, ignored; known are allow, alsoAllow, deny".to_owned(),
            "warning tools.sandbox.mode: unknown setting, ignored; known are tools".to_owned(),
            "warning tools.approvals.timeoutSeconds: expected a number from 1 to 1800, got a string `\"soon\"`".to_owned(),
            "warning tools.approvals.retries: unknown setting, ignored; known are ask, timeoutSeconds".to_owned(),
            "warning tools.loopDetection: expected an object, got a number `1`".to_owned(),
            "warning tools.fs.roots[0].mode: unknown setting, ignored; known are path, writable".to_owned(),
            "warning tools.fs.root: unknown setting, ignored; known are roots".to_owned(),
            "warning tools.exec.enabled: expected `true` or `false`, got a string `\"yes\"`".to_owned(),
            "warning tools.exec.env: expected an array of strings, got a string `\"PATH\"`".to_owned(),
            "warning tools.web.fetch.privateHosts: expected an array of strings, got a string `\"localhost\"`".to_owned(),
            "warning tools.web.search: unknown setting, ignored; known are fetch".to_owned(),
            format!("warning tools.profile: unknown setting, ignored; known are {known}"),
        ]
    );
}

#[test]
fn numbers_outside_their_range_are_noted_and_brought_inside() {
    for (text, time, note) in [
        (
            "0",
            1,
            "note tools.approvals.timeoutSeconds: 0 is outside 1 to 1800, so 1 is used",
        ),
        (
            "1e9",
            1800,
            "note tools.approvals.timeoutSeconds: 1000000000 is outside 1 to 1800, so 1800 is used",
        ),
    ] {
        let (settings, problems) = tools(&format!("{{ approvals: {{ timeoutSeconds: {text} }} }}"));
        assert_eq!(
            (settings.approval_time, problems),
            (Duration::from_secs(time), texts(&[note]))
        );
    }
    for (text, millis, note) in [
        (
            "1",
            100,
            "note tools.exec.timeoutMs: 1 is outside 100 to 3600000, so 100 is used",
        ),
        (
            "1e12",
            3_600_000,
            "note tools.exec.timeoutMs: 1000000000000 is outside 100 to 3600000, so 3600000 is used",
        ),
    ] {
        let (settings, problems) = tools(&format!("{{ exec: {{ enabled: true, timeoutMs: {text} }} }}"));
        let exec = ExecSettings {
            timeout: Some(Duration::from_millis(millis)),
            env: Vec::new(),
        };
        assert_eq!((settings.exec, problems), (Some(exec), texts(&[note])));
    }
}

#[test]
fn what_is_allowed_and_denied_at_once_is_denied_with_a_warning() {
    let (settings, problems) = tools("{ allow: ['Read', 'grep'], deny: ['read'] }");
    assert_eq!(
        settings.lists,
        lists(Some(&["Read", "grep"]), &[], Some(&["read"]))
    );
    assert_eq!(
        problems,
        ["warning tools: `Read` is both allowed and denied; deny wins"]
    );
}
