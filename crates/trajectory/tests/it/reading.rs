use codecell_trajectory::{
    ApprovalRequested, CallNode, EventKind, Outcome, Problem, ReadWarning, ToolCall, TrajectoryEvent,
    parse_lines, tree,
};
use serde_json::json;

use crate::recorder;

/// `exec(read search(..)) wait` and the like: what belongs to what, in one line.
fn drawn(nodes: &[CallNode]) -> String {
    let draw = |node: &CallNode| {
        let open = if node.result.is_none() { "?" } else { "" };
        let asked = "!".repeat(node.approvals.len());
        let inside = match node.children.as_slice() {
            [] => String::new(),
            children => format!("({})", drawn(children)),
        };
        format!("{}{open}{asked}{inside}", node.name)
    };
    nodes.iter().map(draw).collect::<Vec<_>>().join(" ")
}

fn call(id: &str, parent: Option<&str>) -> ToolCall {
    match parent {
        Some(parent) => ToolCall::nested(id, parent, format!("openclaw:core:{id}"), id, json!({})),
        None => ToolCall::direct(id, id, json!({})),
    }
}

fn calls(list: &[(&str, Option<&str>)]) -> Vec<TrajectoryEvent> {
    let (recorder, sink) = recorder();
    for (id, parent) in list {
        recorder.record(None, call(id, *parent));
    }
    sink.events()
}

#[test]
fn nested_calls_hang_under_the_cell_that_made_them_also_when_made_in_a_wait() {
    let (recorder, sink) = recorder();
    let (exec, read, wait, late) = (
        call("exec", None),
        call("read", Some("exec")),
        call("wait", None),
        call("write", Some("exec")),
    );
    recorder.record(None, exec.clone());
    recorder.record(None, read.clone());
    recorder.record(None, exec.result(Outcome::Ok, json!({}), 1));
    recorder.record(None, wait.clone());
    recorder.record(None, read.result(Outcome::Ok, json!({}), 1));
    recorder.record(None, late.clone());
    recorder.record(
        None,
        ApprovalRequested {
            approval_id: "a".into(),
            tool_call_id: "write".into(),
            title: "?".into(),
            description: None,
        },
    );
    recorder.record(None, wait.result(Outcome::Ok, json!({}), 1));
    recorder.record(None, call("unknown", None).result(Outcome::Ok, json!({}), 1));
    let tree = tree(&sink.events());
    assert_eq!(drawn(&tree), "exec(read write?!) wait");
    assert_eq!(
        tree[0].children[0].catalog_id.as_deref(),
        Some("openclaw:core:read")
    );
    assert_eq!(
        tree[0].children[0].result.as_ref().map(|event| event.seq),
        Some(5)
    );
}

#[test]
fn odd_parents_make_no_circle_and_lose_nothing() {
    for (list, expected) in [
        (vec![("a", Some("a"))], "a?"),
        (vec![("a", Some("b")), ("b", Some("a"))], "a?(b?)"),
        (vec![("a", Some("nobody"))], "a?"),
        (
            vec![("a", None), ("b", Some("a")), ("a", Some("b"))],
            "a?(b?(a?))",
        ),
        (vec![("a", None), ("a", None), ("b", Some("a"))], "a? a?(b?)"),
    ] {
        assert_eq!(drawn(&tree(&calls(&list))), expected, "{list:?}");
    }
    let ids: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let chain: Vec<(&str, Option<&str>)> = ids
        .iter()
        .enumerate()
        .map(|(n, id)| (id.as_str(), n.checked_sub(1).map(|before| ids[before].as_str())))
        .collect();
    let count = |nodes: &[CallNode]| {
        let mut open: Vec<&CallNode> = nodes.iter().collect();
        let mut count = 0;
        while let Some(node) = open.pop() {
            count += 1;
            open.extend(&node.children);
        }
        count
    };
    assert_eq!(count(&tree(&calls(&chain))), 20_000);
}

#[test]
fn sessions_in_one_file_do_not_mix() {
    let mut events = calls(&[("a", None), ("b", Some("a"))]);
    events[1].session_id = "s2".into();
    assert_eq!(drawn(&tree(&events)), "a? b?");
}

#[test]
fn a_bad_line_costs_that_line_and_is_named() {
    let good = serde_json::to_string(&calls(&[("a", None)])[0]).unwrap();
    let other = good.replace("openclaw-trajectory", "another-schema");
    let later = good.replace("\"schemaVersion\":1", "\"schemaVersion\":2");
    let newer = good.replace("tool.call", "tool.dreamed");
    let long = format!("\"{}\"", "x".repeat(2 << 20));
    let mut bytes = Vec::new();
    for line in [
        &good,
        "",
        "{\"type\":",
        "[1]",
        "{\"type\":\"tool.call\"}",
        &other,
        &later,
        &newer,
        "\r",
        &long,
    ] {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(b"\xff\xfe\n");
    bytes.extend_from_slice(&good.as_bytes()[..good.len() / 2]);
    let trace = parse_lines(&bytes);
    let kinds: Vec<&EventKind> = trace.events.iter().map(|event| &event.kind).collect();
    assert_eq!(
        kinds,
        [&EventKind::ToolCall, &EventKind::Other("tool.dreamed".into())]
    );
    assert_eq!(
        serde_json::to_string(&trace.events[1]).unwrap(),
        newer,
        "kept as it was read"
    );
    let warning = |line, problem| ReadWarning { line, problem };
    assert_eq!(
        trace.warnings,
        [
            warning(3, Problem::Json),
            warning(4, Problem::Event),
            warning(5, Problem::Event),
            warning(6, Problem::Schema),
            warning(7, Problem::Schema),
            warning(10, Problem::TooLong),
            warning(11, Problem::Json),
            warning(12, Problem::Json),
        ]
    );
    assert_eq!(trace.warnings[0].to_string(), "line 3: invalid-runtime-json");
}
