use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use codecell_catalog::{Owner, Tool};
use codecell_tools::{
    Approvals, BoxFuture, CallError, CallFacts, CallPolicy, ExecutionPath, HookDecision, Hooks, Json,
    LoopGuard, LoopLimits, Policy, Refusal, Step, ToolCall, ToolError, ToolLists, ToolResult,
};
use serde_json::json;
use tokio::sync::Notify;

use crate::{Echo, Runs, context, nested, read, reason, says, soon, text, tool, value};

fn contracted(owner: Owner, input: serde_json::Value, output: serde_json::Value) -> Arc<Tool> {
    let mut spec = tool(owner, "t");
    spec.parameters = input;
    spec.output_schema = Some(output);
    Arc::new(Tool::alone(spec))
}

#[tokio::test]
async fn a_schema_that_does_not_compile_is_told_before_the_tool_runs() {
    let echo = Echo::default();
    let broken = contracted(Owner::Core, json!({ "type": "object" }), json!({ "type": 7 }));
    let error = echo.path().call(&broken, None, context()).await.unwrap_err();
    assert!(matches!(error, CallError::Contract(_)), "{error}");
    assert_eq!((echo.ran().len(), error.code()), (0, "invalid_contract"));
}

#[tokio::test]
async fn a_value_that_breaks_its_contract_is_an_error_after_the_effect() {
    let echo = Echo::default();
    let promise = json!({ "type": "object", "required": ["secret"] });
    let strict = contracted(Owner::Core, json!({ "type": "object" }), promise.clone());
    let given = text(json!({ "other": "p4ssw0rd" }));
    let error = echo
        .path()
        .call(&strict, Some(&given), context())
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("was called, and its value does not match"),
        "{error}"
    );
    assert!(!error.to_string().contains("p4ssw0rd"), "{error}");
    assert_eq!((echo.ran().len(), error.code()), (1, "output_contract"));

    let lenient = contracted(Owner::Mcp("m".into()), json!({ "type": "object" }), promise);
    let delivered = echo.path().call(&lenient, Some(&given), context()).await.unwrap();
    assert!(delivered.broken_contract.is_some());
}

#[tokio::test]
async fn bad_arguments_reach_neither_hooks_nor_the_tool() {
    let (echo, hooks) = (Echo::default(), Hooks::new());
    hooks.before("p", 0, None, says(HookDecision::block("asked")));
    let path = echo.path().with_hooks(hooks);
    for arguments in [json!([]), json!(5), json!("x")] {
        let error = path
            .call(&read(), Some(&text(arguments)), context())
            .await
            .unwrap_err();
        assert!(matches!(error, CallError::Arguments(_)), "{error}");
    }
    let large = text(json!({ "x": "y".repeat(codecell_tools::MAX_ARGUMENT_BYTES) }));
    let error = path.call(&read(), Some(&large), context()).await.unwrap_err();
    assert!(matches!(error, CallError::TooLarge { .. }), "{error}");
    assert_eq!(reason(path.call(&read(), None, context()).await), "asked");
    assert_eq!(echo.ran().len(), 0);
}

#[tokio::test]
async fn a_denied_tool_that_is_called_anyway_is_refused() {
    let (echo, hooks) = (Echo::default(), Hooks::new());
    hooks.before("p", 0, None, says(HookDecision::block("asked")));
    let deny = ToolLists {
        deny: Some(vec!["read".into()]),
        ..ToolLists::default()
    };
    let policy = Policy::new(vec![Step::new("agent", "agents.main.tools", &deny).unwrap()]);
    let path = echo.path().with_policy(policy).with_hooks(hooks);
    for context in [context(), nested()] {
        let error = path.call(&read(), None, context).await.unwrap_err();
        let told = r#"Tool "read" blocked by agent tool policy (`read` in agents.main.tools.deny)"#;
        let details = json!({ "status": "blocked", "deniedReason": "policy", "reason": told });
        assert_eq!(error.details(), Some(text(details)), "{error}");
    }
    assert_eq!(echo.ran().len(), 0);
}

/// Refuses arguments with a certain word in them.
struct NoWord(&'static str, &'static str);

impl CallPolicy for NoWord {
    fn check(&self, _: &CallFacts<'_>, arguments: &Json) -> Result<(), Refusal> {
        if arguments.as_str().contains("panic") {
            panic!("a policy's mistake");
        }
        if arguments.as_str().contains(self.0) {
            Err(Refusal::new(self.1))
        } else {
            Ok(())
        }
    }
}

#[tokio::test]
async fn trusted_policies_judge_the_argument_before_and_after_hooks() {
    for (given, rewritten, told) in [
        ("fine", "fine", None),
        (
            "evil",
            "fine",
            Some("Tool call blocked by trusted plugin policy: no evil"),
        ),
        (
            "fine",
            "evil",
            Some("Tool call blocked by trusted plugin policy: no evil"),
        ),
        ("mute", "fine", Some("Tool call blocked by trusted plugin policy")),
        (
            "panic",
            "fine",
            Some("Tool call blocked by trusted plugin policy"),
        ),
    ] {
        let (echo, hooks) = (Echo::default(), Hooks::new());
        hooks.before(
            "p",
            0,
            None,
            says(HookDecision::rewrite(text(json!({ "x": rewritten })))),
        );
        let path = echo.path().with_hooks(hooks).with_trusted_policies(vec![
            Arc::new(NoWord("evil", "no evil")),
            Arc::new(NoWord("mute", "")),
        ]);
        let outcome = path
            .call(&read(), Some(&text(json!({ "x": given }))), context())
            .await;
        match told {
            Some(told) => assert_eq!(reason(outcome), told),
            None => assert!(outcome.is_ok()),
        }
        assert_eq!(
            echo.ran().len(),
            usize::from(told.is_none()),
            "{given} {rewritten}"
        );
    }
}

#[tokio::test]
async fn a_run_that_repeats_itself_is_stopped() {
    let echo = Echo::default();
    let limits = LoopLimits {
        warn_at: 2,
        block_at: 3,
    };
    let path = echo.path().with_loop_guard(LoopGuard::new(limits));
    let call = async || {
        path.call(&read(), Some(&text(json!({ "x": 1 }))), context())
            .await
    };
    assert!(call().await.is_ok());
    assert!(call().await.is_ok());
    let error = call().await.unwrap_err();
    let told = "this run has made the same call 3 times; change the arguments, or go on without it";
    let details = json!({ "status": "blocked", "deniedReason": "tool-loop", "reason": told });
    assert_eq!(error.details(), Some(text(details)), "{error}");
    assert_eq!(echo.ran().len(), 2);
}

#[tokio::test]
async fn an_executor_that_panics_is_an_error() {
    let now = Runs(|_: ToolCall| -> BoxFuture<_> { panic!("a tool's mistake") });
    let later = Runs(|_: ToolCall| -> BoxFuture<_> { Box::pin(async { panic!("a tool's mistake") }) });
    for path in [
        ExecutionPath::bare(Arc::new(now)),
        ExecutionPath::bare(Arc::new(later)),
    ] {
        let error = path.call(&read(), None, context()).await.unwrap_err();
        assert_eq!(error.code(), "internal_error");
        assert_eq!(
            error.to_string(),
            "tool `openclaw:core:read` crashed; its effect is unknown"
        );
    }
}

#[tokio::test]
async fn a_tools_error_keeps_its_code_and_details() {
    let failure = ToolError {
        details: Some(text(json!({ "status": 503 }))),
        ..ToolError::new("unavailable", "try later")
    };
    let given = failure.clone();
    let path = ExecutionPath::bare(Arc::new(Runs(move |_: ToolCall| -> BoxFuture<_> {
        let failure = failure.clone();
        Box::pin(async move { Err(failure) })
    })));
    let error = path.call(&read(), None, context()).await.unwrap_err();
    assert_eq!(
        (error.code(), error.details()),
        ("unavailable", given.details.clone())
    );
    assert_eq!(error.to_string(), "try later");
}

#[tokio::test]
async fn a_call_nobody_wants_does_not_begin() {
    let (echo, context) = (Echo::default(), context());
    context.cancel.cancel();
    let outcome = echo.path().call(&read(), None, context).await;
    assert!(matches!(outcome, Err(CallError::Aborted)), "{outcome:?}");
    assert_eq!(echo.ran().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_abort_ends_the_call_at_once_and_lets_the_tool_clean_up() {
    let (running, cleaned) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (told, done) = (Arc::clone(&running), Arc::clone(&cleaned));
    let path = ExecutionPath::bare(Arc::new(Runs(move |call: ToolCall| -> BoxFuture<_> {
        let (told, done) = (Arc::clone(&told), Arc::clone(&done));
        Box::pin(async move {
            told.notify_one();
            call.cancel.cancelled().await;
            tokio::task::yield_now().await;
            done.notify_one();
            Ok(ToolResult::of_value(Json::null()))
        })
    })));
    let context = context();
    let cancel = context.cancel.clone();
    let call = tokio::spawn(async move { path.call(&read(), None, context).await });
    running.notified().await;
    cancel.cancel();
    assert!(matches!(call.await.unwrap(), Err(CallError::Aborted)));
    soon(cleaned.notified()).await;
}

#[tokio::test]
async fn an_abort_wins_over_a_result_that_comes_with_it() {
    let path = ExecutionPath::bare(Arc::new(Runs(|call: ToolCall| -> BoxFuture<_> {
        call.cancel.cancel();
        Box::pin(async { Ok(ToolResult::of_value(Json::null())) })
    })));
    let outcome = path.call(&read(), None, context()).await;
    assert!(matches!(outcome, Err(CallError::Aborted)), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_the_abort_does_not_hold_the_call() {
    struct Dropped(Arc<Notify>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let dropped = Arc::new(Notify::new());
    let told = Arc::clone(&dropped);
    let path = ExecutionPath::bare(Arc::new(Runs(move |call: ToolCall| -> BoxFuture<_> {
        let guard = Dropped(Arc::clone(&told));
        Box::pin(async move {
            let _guard = guard;
            call.cancel.cancel();
            std::future::pending().await
        })
    })));
    let outcome = path.call(&read(), None, context()).await;
    assert!(matches!(outcome, Err(CallError::Aborted)), "{outcome:?}");
    soon(dropped.notified()).await;
}

#[tokio::test]
async fn hooks_run_once_per_call_on_direct_and_on_nested_calls() {
    struct Counts(Arc<AtomicUsize>);
    impl codecell_tools::BeforeToolCall for Counts {
        fn before(
            &self,
            _: codecell_tools::BeforeEvent,
        ) -> BoxFuture<Result<HookDecision, codecell_tools::HookFailure>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Ok(HookDecision::pass()) })
        }
    }
    let (hooks, asked) = (Hooks::new(), Arc::new(AtomicUsize::new(0)));
    hooks.before("p", 0, None, Arc::new(Counts(Arc::clone(&asked))));
    let path = Echo::default()
        .path()
        .with_hooks(hooks)
        .with_approvals(Approvals::new());
    for (expected, context) in [context(), nested(), nested()].into_iter().enumerate() {
        assert_eq!(value(path.clone().call(&read(), None, context).await), "{}");
        assert_eq!(asked.load(Ordering::Relaxed), expected + 1);
    }
}
