use std::sync::{Arc, Mutex};

use codecell_tools::{
    ApprovalAsk, ApprovalNews, Approvals, BeforeEvent, CallError, Caller, CellRequest, Decision,
    HookDecision, HookedCall, Hooks,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{Before, Echo, context, says, text, value};

fn request(arguments: Value) -> CellRequest<'static> {
    CellRequest {
        arguments,
        language: Some("javascript"),
        caller: Arc::new(Caller::new("main", "s1", "r1")),
        cancel: CancellationToken::new(),
    }
}

/// What comes out when hooks write these members over the arguments, one hook after another.
async fn hooked(arguments: Value, writes: Vec<Value>) -> Result<Value, CallError> {
    let hooks = Hooks::new();
    for write in writes {
        hooks.before(
            "p",
            0,
            None,
            Arc::new(Before(move |event: BeforeEvent| {
                let mut params: Value = event.params.read().unwrap();
                for (name, value) in write.as_object().unwrap() {
                    params[name] = value.clone();
                }
                params.as_object_mut().unwrap().retain(|_, value| value != "gone");
                Ok(HookDecision::rewrite(text(params)))
            })),
        );
    }
    Echo::default()
        .path()
        .with_hooks(hooks)
        .before_cell(request(arguments))
        .await
}

async fn check(arguments: Value, writes: Vec<Value>, expected: Option<&str>) {
    let told = format!("{arguments} {writes:?}");
    match (hooked(arguments, writes).await, expected) {
        (Ok(after), Some(program)) => {
            assert_eq!(
                (&after["code"], &after["command"]),
                (&json!(program), &json!(program)),
                "{told}"
            );
        }
        (Err(error), None) => {
            assert_eq!(
                error.to_string(),
                "code and command must match when both are provided.",
                "{told}"
            );
        }
        (other, _) => panic!("{told}: {other:?}"),
    }
}

#[tokio::test]
async fn code_and_command_follow_each_other() {
    let (code, command) = (json!({ "code": "a" }), json!({ "command": "a" }));
    for given in [code, command, json!({ "code": "a", "command": "a" })] {
        check(given.clone(), vec![json!({})], Some("a")).await;
        check(given.clone(), vec![json!({ "code": "b" })], Some("b")).await;
        check(given.clone(), vec![json!({ "command": "b" })], Some("b")).await;
        check(
            given.clone(),
            vec![json!({ "code": "b", "command": "b" })],
            Some("b"),
        )
        .await;
        check(given.clone(), vec![json!({ "code": "b", "command": "c" })], None).await;
        check(
            given.clone(),
            vec![json!({ "code": "b" }), json!({ "command": "c" })],
            Some("c"),
        )
        .await;
        check(given.clone(), vec![json!({ "code": "gone" })], Some("a")).await;
        check(
            given.clone(),
            vec![json!({ "code": "gone", "command": "b" })],
            Some("b"),
        )
        .await;
        check(
            given,
            vec![json!({ "code": "gone", "command": "gone" })],
            Some("a"),
        )
        .await;
    }
    check(json!({ "code": "a", "command": "b" }), vec![json!({})], None).await;
}

#[tokio::test]
async fn other_members_are_kept_and_may_be_rewritten() {
    let given = json!({ "code": "a", "restartSafe": true });
    let after = hooked(given, vec![json!({ "language": "typescript" })])
        .await
        .unwrap();
    let expected = json!({ "code": "a", "restartSafe": true, "command": "a", "language": "typescript" });
    assert_eq!(after, expected);
}

#[tokio::test]
async fn without_hooks_or_without_a_program_nothing_changes() {
    for given in [
        json!({ "code": "a" }),
        json!({ "code": "a", "command": "b" }),
        json!([1]),
        json!({}),
    ] {
        let path = Echo::default().path();
        assert_eq!(path.before_cell(request(given.clone())).await.unwrap(), given);
        let path = path.with_hooks(Hooks::new());
        assert_eq!(path.before_cell(request(given.clone())).await.unwrap(), given);
    }
    for given in [json!([1]), json!({ "x": 1 })] {
        assert_eq!(
            hooked(given.clone(), vec![json!({ "code": "b" })]).await.unwrap(),
            given
        );
    }
}

#[tokio::test]
async fn hooks_know_the_outer_call_by_its_kind() {
    for (language, kind) in [
        (Some("javascript"), Some("javascript")),
        (Some("typescript"), Some("typescript")),
        (Some("python"), None),
        (None, None),
    ] {
        let (hooks, seen) = (Hooks::new(), Arc::new(Mutex::new(Vec::new())));
        let log = Arc::clone(&seen);
        hooks.before(
            "p",
            0,
            None,
            Arc::new(Before(move |event: BeforeEvent| {
                log.lock().unwrap().push(event);
                Ok(HookDecision::pass())
            })),
        );
        let request = CellRequest {
            language,
            ..request(json!({ "code": "a" }))
        };
        let path = Echo::default().path().with_hooks(hooks);
        path.before_cell(request).await.unwrap();
        let call = HookedCall {
            tool: "exec".into(),
            id: None,
            tool_kind: Some("code_mode_exec"),
            tool_input_kind: kind,
            caller: Arc::new(Caller::new("main", "s1", "r1")),
            cell: None,
            number: 0,
        };
        let params = text(json!({ "code": "a", "command": "a" }));
        assert_eq!(*seen.lock().unwrap(), [BeforeEvent { call, params }]);
    }
}

#[tokio::test]
async fn a_block_and_junk_refuse_the_program() {
    for (decision, told) in [
        (HookDecision::block("no programs"), "no programs"),
        (
            HookDecision::rewrite(text(json!([]))),
            "Tool call blocked because before_tool_call hook failed: it rewrote the arguments to no object",
        ),
    ] {
        let hooks = Hooks::new();
        hooks.before("p", 0, None, says(decision));
        let path = Echo::default().path().with_hooks(hooks);
        let error = path
            .before_cell(request(json!({ "code": "a" })))
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(r#"Tool "exec" was blocked before execution: {told}"#)
        );
    }
}

#[tokio::test]
async fn an_approval_of_the_program_says_nothing_about_its_calls() {
    let (hooks, approvals) = (Hooks::new(), Approvals::new());
    let _route = approvals.add_route();
    hooks.before(
        "p",
        0,
        None,
        says(HookDecision::ask(ApprovalAsk::new("Really?", ""))),
    );
    let path = Echo::default()
        .path()
        .with_hooks(hooks)
        .with_approvals(approvals.clone());
    let mut news = approvals.subscribe();
    let (outer, inner) = (path.clone(), path);
    let outer = tokio::spawn(async move { outer.before_cell(request(json!({ "code": "a" }))).await });
    let ApprovalNews::Opened { approval } = news.recv().await.unwrap() else {
        panic!("no question")
    };
    let shown = (&*approval.tool, approval.arguments.as_str());
    assert_eq!(shown, ("exec", r#"{"code":"a","command":"a"}"#));
    approvals.decide(&approval.id, Decision::AllowAlways).unwrap();
    outer.await.unwrap().unwrap();

    let (asked, call) = crate::asking(&approvals, &inner, context()).await;
    assert_eq!(asked.tool, "openclaw:core:read");
    approvals.decide(&asked.id, Decision::AllowOnce).unwrap();
    assert_eq!(value(call.await.unwrap()), r#"{"x":1}"#);
}
