use codecell_catalog::{Owner, ToolSpec};
use codecell_tools::{
    Caller, Grants, Policy, Removed, Restrictions, SelectorError, Step, StepError, ToolLists, Verdict,
};
use serde_json::json;

use crate::{Echo, context, reason, text, tool};

fn lists(allow: Option<&[&str]>, also_allow: &[&str], deny: Option<&[&str]>) -> ToolLists {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    ToolLists {
        allow: allow.map(owned),
        also_allow: owned(also_allow),
        deny: deny.map(owned),
    }
}

fn step(label: &str, allow: Option<&[&str]>, deny: &[&str]) -> Step {
    Step::new(label, format!("tools.{label}"), &lists(allow, &[], Some(deny))).unwrap()
}

fn plugin(id: &str, name: &str) -> ToolSpec {
    tool(Owner::ExternalPlugin(id.into()), name)
}

fn mcp(server: &str, name: &str) -> ToolSpec {
    tool(Owner::Mcp(server.into()), name)
}

/// One of everything.
fn tools() -> Vec<ToolSpec> {
    let mut tools: Vec<ToolSpec> = ["read", "write", "apply_patch", "exec", "image", "web_fetch"]
        .map(|name| tool(Owner::Core, name))
        .into();
    let mut purge = mcp("git hub", "purge");
    purge.annotations =
        Some(json!({ "destructiveHint": true, "openWorldHint": true, "readOnlyHint": false }));
    let mut list = mcp("git hub", "list");
    list.annotations = Some(json!({ "readOnlyHint": true }));
    tools.extend([
        plugin("shipping", "promote"),
        purge,
        list,
        mcp("9", "read"),
        tool(Owner::Client("app".into()), "ask"),
    ]);
    tools
}

fn kept(policy: &Policy) -> Vec<String> {
    let kept = policy.apply(tools()).kept.into_iter();
    kept.map(|spec| format!("{}:{}", spec.owner.name().unwrap_or("core"), spec.name))
        .collect()
}

fn check_allow(allow: &[&str], expected: &[&str]) {
    assert_eq!(
        kept(&Policy::new(vec![step("global", Some(allow), &[])])),
        expected,
        "{allow:?}"
    );
}

fn check_deny(deny: &[&str], gone: &[&str]) {
    let left = kept(&Policy::new(vec![step("global", None, deny)]));
    let all = kept(&Policy::default());
    let removed: Vec<String> = all.into_iter().filter(|name| !left.contains(name)).collect();
    assert_eq!(removed, gone, "{deny:?}");
}

#[test]
fn an_allow_list_keeps_what_it_names() {
    check_allow(&["read"], &["core:read"]);
    check_allow(&["READ", " Web_* "], &["core:read", "core:web_fetch"]);
    check_allow(&["?ead"], &["core:read"]);
    check_allow(&["bash", "apply-patch"], &["core:apply_patch", "core:exec"]);
    check_allow(&["write"], &["core:write", "core:apply_patch"]);
    check_allow(&["openclaw:core:write"], &["core:write", "core:apply_patch"]);
    check_allow(&["group:fs"], &["core:read", "core:write", "core:apply_patch"]);
    check_allow(&["group:runtime", "group:media"], &["core:exec", "core:image"]);
    check_allow(&["group:openclaw"], &["core:image", "core:web_fetch"]);
    check_allow(
        &["group:core"],
        &[
            "core:read",
            "core:write",
            "core:apply_patch",
            "core:exec",
            "core:image",
            "core:web_fetch",
        ],
    );
    check_allow(&["shipping"], &["shipping:promote"]);
    check_allow(
        &["group:plugins"],
        &["shipping:promote", "git hub:purge", "git hub:list", "9:read"],
    );
    check_allow(&["bundle-mcp"], &["git hub:purge", "git hub:list", "9:read"]);
    check_allow(&["git-hub__*"], &["git hub:purge", "git hub:list"]);
    check_allow(&["mcp-9__read"], &["9:read"]);
    check_allow(&["mcp:git hub:l*"], &["git hub:list"]);
    check_allow(&["client:*"], &["app:ask"]);
    check_allow(&[], &[]);
}

#[test]
fn a_bare_name_grants_no_tool_that_named_itself_so() {
    check_allow(&["read", "purge", "ask"], &["core:read"]);
}

#[test]
fn a_deny_list_removes_what_it_names_whoever_owns_it() {
    check_deny(&["read"], &["core:read", "9:read"]);
    check_deny(&["write"], &["core:write"]);
    check_deny(&["purge"], &["git hub:purge"]);
    check_deny(&["ask"], &["app:ask"]);
    check_deny(
        &["*"],
        &kept(&Policy::default())
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    check_deny(
        &["group:plugins"],
        &["shipping:promote", "git hub:purge", "git hub:list", "9:read"],
    );
    check_deny(&["hint:destructive"], &["git hub:purge"]);
    check_deny(&["hint:open-world"], &["git hub:purge"]);
    let mut not_read_only = kept(&Policy::default());
    not_read_only.retain(|name| name != "git hub:list");
    check_deny(
        &["hint:not-read-only"],
        &not_read_only.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

#[test]
fn deny_beats_allow_at_every_level_and_nothing_comes_back() {
    for levels in [
        [
            step("global", Some(&["read", "exec"]), &["exec"]),
            step("agent", None, &[]),
            step("run", None, &[]),
        ],
        [
            step("global", None, &["exec"]),
            step("agent", Some(&["read", "exec"]), &[]),
            step("run", None, &[]),
        ],
        [
            step("global", Some(&["read"]), &[]),
            step("agent", Some(&["*"]), &[]),
            step("run", Some(&["read", "exec"]), &[]),
        ],
        [
            step("global", None, &[]),
            step("agent", Some(&["read", "exec"]), &[]),
            step("run", Some(&["*"]), &["exec"]),
        ],
    ] {
        let policy = Policy::new(levels.to_vec());
        assert_eq!(kept(&policy), ["core:read"], "{levels:?}");
    }
}

#[test]
fn a_further_step_never_adds_a_tool() {
    let entries: [Option<&[&str]>; 5] = [
        None,
        Some(&[]),
        Some(&["*"]),
        Some(&["write", "bundle-mcp"]),
        Some(&["group:core"]),
    ];
    let denials: [&[&str]; 3] = [&[], &["group:fs"], &["hint:destructive", "shipping"]];
    let steps: Vec<Step> = entries
        .iter()
        .flat_map(|allow| denials.map(|deny| step("global", *allow, deny)))
        .collect();
    for first in &steps {
        for second in &steps {
            let one = kept(&Policy::new(vec![first.clone()]));
            let both = kept(&Policy::new(vec![first.clone(), second.clone()]));
            assert!(both.iter().all(|name| one.contains(name)), "{first:?} {second:?}");
        }
    }
}

#[test]
fn a_removal_says_which_step_and_which_entry() {
    let policy = Policy::new(vec![
        step("global", None, &["Exec"]),
        step("agent", Some(&["read"]), &[]),
    ]);
    let removed = |step: &str, config_key: &str, rule: Option<&str>| {
        Verdict::Removed(Removed {
            step: step.into(),
            config_key: config_key.into(),
            rule: rule.map(str::to_owned),
        })
    };
    for (name, expected) in [
        ("read", Verdict::Allowed),
        ("exec", removed("global", "tools.global.deny", Some("Exec"))),
        ("write", removed("agent", "tools.agent.allow", None)),
    ] {
        assert_eq!(policy.decide(&tool(Owner::Core, name)), expected, "{name}");
    }
}

#[test]
fn entries_that_select_nothing_are_errors() {
    let text = |text: &str| text.to_owned();
    for (entry, expected) in [
        ("  ", SelectorError::Blank),
        (
            "group:nope",
            SelectorError::UnknownGroup {
                text: text("group:nope"),
            },
        ),
        (
            "hint:odd",
            SelectorError::UnknownHint {
                text: text("hint:odd"),
            },
        ),
        (
            "foo:bar",
            SelectorError::UnknownForm {
                text: text("foo:bar"),
            },
        ),
        (&"x".repeat(513), SelectorError::TooLong { bytes: 513 }),
    ] {
        assert_eq!(Grants::parse(&[entry]), Err(expected.clone()), "{entry}");
        assert_eq!(Restrictions::parse(&[entry]), Err(expected), "{entry}");
    }
    let hint = "hint:destructive";
    assert_eq!(
        Grants::parse(&[hint]),
        Err(SelectorError::HintInAllow { text: text(hint) })
    );
    assert!(Restrictions::parse(&[hint]).is_ok());
}

#[test]
fn allow_and_also_allow_in_one_scope_is_an_error() {
    let both = lists(Some(&["read"]), &["write"], None);
    let expected = Err(StepError::AllowAndAlsoAllow {
        config_key: "tools".into(),
    });
    assert_eq!(Step::new("global", "tools", &both), expected);
    let bad = Step::new("global", "tools", &lists(None, &[], Some(&["group:x"]))).unwrap_err();
    assert!(
        bad.to_string()
            .starts_with("`tools.deny`: there is no tool group `group:x`"),
        "{bad}"
    );
}

#[test]
fn unknown_entries_are_told() {
    let policy = Policy::new(vec![
        step(
            "global",
            Some(&["read", "raed", "gone__*", "group:ui", "*"]),
            &["whatever"],
        ),
        step("agent", Some(&["write"]), &[]),
        Step::sandbox(&lists(None, &["purge"], None)).unwrap(),
    ]);
    let told: Vec<String> = policy
        .unknown_entries(&tools())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        told,
        [
            "tools: global allowlist contains unknown entries (raed, gone__*); no tool of this run matches them",
            "tools: sandbox allowlist contains unknown entries (purge); no tool of this run matches them",
        ]
    );
}

#[test]
fn an_empty_list_is_a_run_without_tools_and_a_list_that_matches_nothing_is_a_mistake() {
    for (allow, allows_nothing, told) in [
        (None, false, None),
        (Some([].as_slice()), true, None),
        (
            Some(["raed"].as_slice()),
            false,
            Some(
                "no tool is left: nothing passes tools.run.allow; correct the entries, or use an empty list for a run without tools",
            ),
        ),
    ] {
        let policy = Policy::new(vec![step("run", allow, &[])]);
        assert_eq!(policy.allows_nothing(), allows_nothing, "{allow:?}");
        let kept = policy.apply(tools()).kept;
        let emptied = policy.emptied(&kept).map(|emptied| emptied.to_string());
        assert_eq!(emptied.as_deref(), told, "{allow:?}");
    }
}

fn check_sandbox(lists: &ToolLists, expected: &[&str]) {
    let policy = Policy::new(vec![Step::sandbox(lists).unwrap()]);
    assert_eq!(kept(&policy), expected, "{lists:?}");
}

#[test]
fn the_sandbox_is_a_second_gate_with_lists_of_its_own() {
    let files = [
        "core:read",
        "core:write",
        "core:apply_patch",
        "core:exec",
        "core:image",
    ];
    check_sandbox(&lists(None, &[], None), &files);
    check_sandbox(
        &lists(None, &["git-hub__list"], None),
        &[&files[..], &["git hub:list"]].concat(),
    );
    for entry in ["bundle-mcp", "mcp:*"] {
        let all = [&files[..], &["git hub:purge", "git hub:list", "9:read"]].concat();
        check_sandbox(&lists(None, &[entry], None), &all);
    }
    check_sandbox(&lists(Some(&["read"]), &[], None), &["core:read", "core:image"]);
    check_sandbox(&lists(Some(&["read"]), &[], Some(&["image"])), &["core:read"]);
    let all = kept(&Policy::default());
    check_sandbox(
        &lists(Some(&[]), &[], None),
        &all.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let browser = tool(Owner::BundledPlugin("browser".into()), "browser");
    for (deny, allowed) in [(None, false), (Some([].as_slice()), true)] {
        let step = Step::sandbox(&lists(None, &["browser"], deny)).unwrap();
        let verdict = Policy::new(vec![step]).decide(&browser);
        assert_eq!(verdict == Verdict::Allowed, allowed, "{deny:?}");
    }
}

#[tokio::test]
async fn only_sandboxed_callers_meet_the_sandbox_and_are_told_so() {
    let policy = Policy::new(vec![Step::sandbox(&lists(None, &[], None)).unwrap()]);
    let echo = Echo::default();
    let path = echo.path().with_policy(policy.clone());
    let fetch = std::sync::Arc::new(codecell_catalog::Tool::alone(tool(Owner::Core, "web_fetch")));
    let mut outcomes = Vec::new();
    for sandboxed in [false, true] {
        let caller = Caller {
            sandboxed,
            ..Caller::new("main", "s1", "r1")
        };
        assert_eq!(policy.for_caller(&caller).steps().len(), usize::from(sandboxed));
        let context = codecell_tools::CallContext {
            caller: caller.into(),
            ..context()
        };
        outcomes.push(path.call(&fetch, Some(&text(json!({}))), context).await);
    }
    assert_eq!(
        reason(outcomes.pop().unwrap()),
        r#"Tool "web_fetch" blocked by sandbox tool policy (not in tools.sandbox.tools.allow)"#
    );
    assert!(outcomes.pop().unwrap().is_ok());
    assert_eq!(echo.ran().len(), 1);
}
