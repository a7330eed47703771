use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codecell_catalog::{Owner, Tool, ToolId};
use codecell_tools::{
    AfterEvent, AfterOutcome, AfterToolCall, Approvals, BeforeEvent, BeforeToolCall, BoxFuture, CallError,
    Caller, ExecutionPath, HookDecision, HookFailure, HookedCall, Hooks, Json, ToolError, ToolResult,
};
use serde_json::json;

use crate::{Before, Echo, Runs, context, nested, read, reason, says, soon, text, tool, value};

const FAILED: &str = "Tool call blocked because before_tool_call hook failed";

/// A hook that writes its name down and passes.
fn names(log: &Arc<Mutex<Vec<&'static str>>>, name: &'static str) -> Arc<dyn BeforeToolCall> {
    let log = Arc::clone(log);
    Arc::new(Before(move |_| {
        log.lock().unwrap().push(name);
        Ok(HookDecision::pass())
    }))
}

/// A hook that puts its name into the argument.
fn appends(name: &'static str) -> Arc<dyn BeforeToolCall> {
    Arc::new(Before(move |event: BeforeEvent| {
        let mut params: serde_json::Value = event.params.read().unwrap();
        let seen = params["by"].as_str().unwrap_or_default();
        params["by"] = format!("{seen}{name}").into();
        Ok(HookDecision::rewrite(text(params)))
    }))
}

struct Hangs;

impl BeforeToolCall for Hangs {
    fn before(&self, _: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
        Box::pin(std::future::pending())
    }
}

struct PanicsLater;

impl BeforeToolCall for PanicsLater {
    fn before(&self, _: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
        Box::pin(async { panic!("a plugin's mistake") })
    }
}

#[tokio::test]
async fn hooks_are_asked_by_priority_and_then_in_the_order_they_came() {
    let (hooks, log) = (Hooks::new(), Arc::default());
    for (owner, priority, name) in [
        ("a", 0, "a0"),
        ("b", 5, "b5"),
        ("a", 5, "a5"),
        ("b", -1, "b-1"),
        ("c", 0, "c0"),
    ] {
        hooks.before(owner, priority, None, names(&log, name));
    }
    let path = Echo::default().path().with_hooks(hooks.clone());
    path.call(&read(), None, context()).await.unwrap();
    assert_eq!(
        std::mem::take(&mut *log.lock().unwrap()),
        ["b5", "a5", "a0", "c0", "b-1"]
    );

    hooks.remove_owner("a");
    path.call(&read(), None, context()).await.unwrap();
    assert_eq!(*log.lock().unwrap(), ["b5", "c0", "b-1"]);
}

#[tokio::test]
async fn a_hook_is_asked_once_per_call_with_the_nested_tools_name_and_id() {
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
    let path = Echo::default().path().with_hooks(hooks);
    let issue = Arc::new(Tool::alone(tool(Owner::Mcp("github".into()), "create_issue")));
    path.call(&issue, Some(&text(json!({ "x": 1 }))), nested())
        .await
        .unwrap();
    path.call(&read(), None, context()).await.unwrap();
    let expected = |tool: &str, id: &str, cell: Option<&str>, number, params| BeforeEvent {
        call: HookedCall {
            tool: tool.into(),
            id: ToolId::parse(id),
            tool_kind: None,
            tool_input_kind: None,
            caller: Arc::new(Caller::new("main", "s1", "r1")),
            cell: cell.map(str::to_owned),
            number,
        },
        params: text(params),
    };
    assert_eq!(
        *seen.lock().unwrap(),
        [
            expected(
                "create_issue",
                "mcp:github:create_issue",
                Some("cell-1"),
                3,
                json!({ "x": 1 })
            ),
            expected("read", "openclaw:core:read", None, 0, json!({})),
        ]
    );
}

#[tokio::test]
async fn rewrites_add_up_and_reach_the_tool() {
    let (hooks, echo) = (Hooks::new(), Echo::default());
    hooks.before("p", 0, None, appends("b"));
    hooks.before("p", 1, None, appends("a"));
    let path = echo.path().with_hooks(hooks);
    assert_eq!(value(path.call(&read(), None, context()).await), r#"{"by":"ab"}"#);
    assert_eq!(echo.ran(), [r#"{"by":"ab"}"#]);
}

#[tokio::test]
async fn a_block_sticks_and_ends_the_chain() {
    for (given, told) in [
        ("not today", "not today"),
        (" ", "Tool call blocked by plugin hook"),
    ] {
        let (hooks, log, echo) = (Hooks::new(), Arc::default(), Echo::default());
        hooks.before("p", 2, None, names(&log, "first"));
        hooks.before("p", 1, None, says(HookDecision::block(given)));
        hooks.before("p", 0, None, names(&log, "last"));
        let path = echo.path().with_hooks(hooks);
        let error = path.call(&read(), None, context()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(r#"Tool "openclaw:core:read" was blocked before execution: {told}"#)
        );
        let details =
            json!({ "status": "blocked", "deniedReason": "plugin-before-tool-call", "reason": told });
        assert_eq!(error.details(), Some(text(details)));
        assert_eq!(
            (echo.ran().len(), &**log.lock().unwrap()),
            (0, ["first"].as_slice())
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_gives_no_decision_blocks_the_call() {
    let now: Arc<dyn BeforeToolCall> = Arc::new(Before(|_| panic!("a plugin's mistake")));
    let fails: Arc<dyn BeforeToolCall> = Arc::new(Before(|_| Err(HookFailure::new("secret"))));
    for hook in [now, fails, Arc::new(PanicsLater), Arc::new(Hangs)] {
        let (hooks, echo) = (Hooks::new(), Echo::default());
        hooks.before("p", 0, None, hook);
        let path = echo.path().with_hooks(hooks);
        assert_eq!(reason(path.call(&read(), None, context()).await), FAILED);
        assert_eq!(echo.ran().len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_ends_the_wait_and_not_the_handler() {
    struct Slow(Arc<tokio::sync::Notify>);
    impl BeforeToolCall for Slow {
        fn before(&self, _: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
            let done = Arc::clone(&self.0);
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(60)).await;
                done.notify_one();
                Ok(HookDecision::pass())
            })
        }
    }
    let (hooks, done) = (Hooks::new(), Arc::new(tokio::sync::Notify::new()));
    hooks.before(
        "p",
        0,
        Some(Duration::from_secs(1)),
        Arc::new(Slow(Arc::clone(&done))),
    );
    let path = Echo::default().path().with_hooks(hooks);
    assert_eq!(reason(path.call(&read(), None, context()).await), FAILED);
    soon(done.notified()).await;
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_is_at_most_ten_minutes() {
    let hooks = Hooks::new();
    hooks.before("p", 0, Some(Duration::from_secs(86_400)), Arc::new(Hangs));
    let path = Echo::default().path().with_hooks(hooks);
    let began = tokio::time::Instant::now();
    assert_eq!(reason(path.call(&read(), None, context()).await), FAILED);
    assert_eq!(began.elapsed().as_secs(), 600);
}

#[tokio::test]
async fn junk_from_a_hook_never_reaches_the_tool() {
    let mut spec = tool(Owner::Core, "read");
    spec.parameters = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let strict = Arc::new(Tool::alone(spec));
    for junk in [json!([]), json!("x"), json!(null), json!({ "path": 5 })] {
        let (hooks, echo) = (Hooks::new(), Echo::default());
        hooks.before("p", 0, None, says(HookDecision::rewrite(text(junk.clone()))));
        let path = echo.path().with_hooks(hooks);
        let told = reason(path.call(&strict, None, context()).await);
        assert!(told.starts_with(FAILED), "{junk}: {told}");
        assert_eq!(echo.ran().len(), 0, "{junk}");
    }
}

#[tokio::test]
async fn an_abort_during_a_hook_ends_the_call() {
    let (hooks, echo, context) = (Hooks::new(), Echo::default(), context());
    let cancel = context.cancel.clone();
    struct Cancels(tokio_util::sync::CancellationToken);
    impl BeforeToolCall for Cancels {
        fn before(&self, _: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
            self.0.cancel();
            Box::pin(std::future::pending())
        }
    }
    hooks.before("p", 0, None, Arc::new(Cancels(cancel)));
    let outcome = echo.path().with_hooks(hooks).call(&read(), None, context).await;
    assert!(matches!(outcome, Err(CallError::Aborted)), "{outcome:?}");
    assert_eq!(echo.ran().len(), 0);
}

/// An after hook made of a function.
struct After<F>(F);

impl<F> AfterToolCall for After<F>
where
    F: Fn(AfterEvent) -> Result<Option<ToolResult>, HookFailure> + Send + Sync + 'static,
{
    fn after(&self, event: AfterEvent) -> BoxFuture<Result<Option<ToolResult>, HookFailure>> {
        let said = self.0(event);
        Box::pin(async move { said })
    }
}

fn replaces(value: serde_json::Value) -> Arc<dyn AfterToolCall> {
    Arc::new(After(move |_| {
        Ok(Some(ToolResult::of_value(text(value.clone()))))
    }))
}

#[tokio::test]
async fn after_hooks_see_what_the_one_before_left_and_may_replace_it() {
    let (hooks, seen) = (Hooks::new(), Arc::new(Mutex::new(Vec::new())));
    let log = Arc::clone(&seen);
    hooks.after("p", 1, None, replaces(json!("new")));
    hooks.after(
        "p",
        0,
        None,
        Arc::new(After(move |event: AfterEvent| {
            log.lock().unwrap().push((event.params, event.outcome));
            Ok(None)
        })),
    );
    let path = Echo::default().path().with_hooks(hooks);
    assert_eq!(value(path.call(&read(), None, context()).await), r#""new""#);
    let new = ToolResult::of_value(text(json!("new")));
    assert_eq!(
        *seen.lock().unwrap(),
        [(text(json!({})), AfterOutcome::Returned(new))]
    );
}

#[tokio::test]
async fn a_replaced_value_keeps_the_contract_or_the_call_fails() {
    let mut spec = tool(Owner::Core, "read");
    spec.output_schema = Some(json!({ "type": "object" }));
    let strict = Arc::new(Tool::alone(spec));
    for (value, holds) in [(json!({ "a": 1 }), true), (json!(5), false)] {
        let (hooks, echo) = (Hooks::new(), Echo::default());
        hooks.after("p", 0, None, replaces(value.clone()));
        let outcome = echo.path().with_hooks(hooks).call(&strict, None, context()).await;
        assert_eq!(
            matches!(outcome, Err(CallError::Output(_))),
            !holds,
            "{outcome:?}"
        );
        assert_eq!(echo.ran().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_after_hook_that_fails_changes_nothing() {
    struct Hangs;
    impl AfterToolCall for Hangs {
        fn after(&self, _: AfterEvent) -> BoxFuture<Result<Option<ToolResult>, HookFailure>> {
            Box::pin(std::future::pending())
        }
    }
    let panics: Arc<dyn AfterToolCall> = Arc::new(After(|_| panic!("a plugin's mistake")));
    let fails: Arc<dyn AfterToolCall> = Arc::new(After(|_| Err(HookFailure::new("no"))));
    for hook in [panics, fails, Arc::new(Hangs)] {
        let hooks = Hooks::new();
        hooks.after("p", 0, None, hook);
        let path = Echo::default().path().with_hooks(hooks);
        assert_eq!(value(path.call(&read(), None, context()).await), "{}");
    }
}

#[tokio::test]
async fn an_after_hook_sees_a_failure_and_cannot_make_it_a_success() {
    let (hooks, seen) = (Hooks::new(), Arc::new(Mutex::new(Vec::new())));
    let log = Arc::clone(&seen);
    hooks.after(
        "p",
        0,
        None,
        Arc::new(After(move |event: AfterEvent| {
            log.lock().unwrap().push(event.outcome);
            Ok(Some(ToolResult::of_value(Json::null())))
        })),
    );
    let path = ExecutionPath::bare(Arc::new(Runs(|_| {
        Box::pin(async { Err(ToolError::new("unavailable", "the server is gone")) }) as BoxFuture<_>
    })));
    let error = path
        .with_hooks(hooks)
        .call(&read(), None, context())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "the server is gone");
    let failed = AfterOutcome::Failed {
        code: "unavailable",
        message: "the server is gone".into(),
    };
    assert_eq!(*seen.lock().unwrap(), [failed]);
}

#[tokio::test]
async fn blocked_calls_have_no_after() {
    let (hooks, count) = (Hooks::new(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    hooks.before("p", 0, None, says(HookDecision::block("no")));
    hooks.after(
        "p",
        0,
        None,
        Arc::new(After(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(None)
        })),
    );
    let path = Echo::default()
        .path()
        .with_hooks(hooks)
        .with_approvals(Approvals::new());
    assert_eq!(reason(path.call(&read(), None, context()).await), "no");
    assert_eq!(count.load(Ordering::Relaxed), 0);
}
