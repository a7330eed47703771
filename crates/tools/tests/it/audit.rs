use std::sync::{Arc, Mutex};

use codecell_tools::{
    ApprovalAsk, Approvals, Audit, AuditActor, AuditEvent, BoxFuture, Decision, ExecutionPath, HookDecision,
    Hooks, Json, ToolCall, ToolError, ToolResult,
};
use serde_json::{Value, json};

use crate::{Echo, Runs, asking, context, nested, read, says, text};

#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Vec<AuditEvent>>>);

impl Audit for Ledger {
    fn record(&self, event: AuditEvent) {
        self.0.lock().unwrap().push(event);
    }
}

impl Ledger {
    /// Action, status and code of every line.
    fn lines(&self) -> Vec<String> {
        let events = self.0.lock().unwrap();
        let line = |event: &AuditEvent| {
            let code = event.code.as_deref().unwrap_or("-");
            format!("{} {} {code}", event.action.as_str(), event.status.as_str())
        };
        events.iter().map(line).collect()
    }
}

fn answers(result: Result<ToolResult, ToolError>) -> ExecutionPath {
    ExecutionPath::bare(Arc::new(Runs(move |_: ToolCall| -> BoxFuture<_> {
        let result = result.clone();
        Box::pin(async move { result })
    })))
}

#[tokio::test]
async fn every_call_has_a_beginning_and_one_end() {
    let blocks = Hooks::new();
    blocks.before("p", 0, None, says(HookDecision::block("no")));
    let said_failed = ToolResult {
        is_error: true,
        ..ToolResult::of_value(Json::null())
    };
    for (path, end) in [
        (Echo::default().path(), "succeeded -"),
        (answers(Ok(said_failed)), "failed tool_error"),
        (
            answers(Err(ToolError::new("unavailable", "x"))),
            "failed unavailable",
        ),
        (
            answers(Err(ToolError::new("timed_out", "x"))),
            "timed_out timed_out",
        ),
        (Echo::default().path().with_hooks(blocks), "blocked blocked"),
    ] {
        let ledger = Ledger::default();
        let path = path.with_audit(Arc::new(ledger.clone()));
        let _ = path.call(&read(), None, context()).await;
        let expected = [
            "tool.action.started started -".to_owned(),
            format!("tool.action.finished {end}"),
        ];
        assert_eq!(ledger.lines(), expected);
    }
    let (ledger, context) = (Ledger::default(), context());
    context.cancel.cancel();
    let path = Echo::default().path().with_audit(Arc::new(ledger.clone()));
    let _ = path.call(&read(), None, context).await;
    assert_eq!(ledger.lines()[1], "tool.action.finished cancelled aborted");
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_too() {
    let ledger = Ledger::default();
    let path = ExecutionPath::bare(Arc::new(Runs(|_: ToolCall| -> BoxFuture<_> {
        Box::pin(std::future::pending())
    })))
    .with_audit(Arc::new(ledger.clone()));
    let tool = read();
    let mut call = Box::pin(path.call(&tool, None, context()));
    let polled = std::future::poll_fn(|task| std::task::Poll::Ready(call.as_mut().poll(task))).await;
    assert!(polled.is_pending());
    drop(call);
    assert_eq!(
        ledger.lines(),
        [
            "tool.action.started started -",
            "tool.action.finished cancelled aborted"
        ]
    );
}

#[tokio::test]
async fn the_record_has_who_and_what_and_no_contents() {
    let (ledger, approvals, hooks) = (Ledger::default(), Approvals::new(), Hooks::new());
    let _route = approvals.add_route();
    hooks.before(
        "p",
        0,
        None,
        says(HookDecision::ask(ApprovalAsk::new("Read?", "A secret"))),
    );
    let path = Echo::default()
        .path()
        .with_hooks(hooks)
        .with_approvals(approvals.clone())
        .with_audit(Arc::new(ledger.clone()));
    let (shown, call) = asking(&approvals, &path, nested()).await;
    approvals.decide(&shown.id, Decision::AllowOnce).unwrap();
    call.await.unwrap().unwrap();
    assert_eq!(
        ledger.lines(),
        [
            "tool.action.started started -",
            "approval.asked started -",
            "approval.resolved succeeded allowed-once",
            "tool.action.finished succeeded -"
        ]
    );
    let events = ledger.0.lock().unwrap().clone();
    let mut asked = serde_json::to_value(&events[1]).unwrap();
    asked["timeMs"] = json!(0);
    let actor = AuditActor {
        agent: "main".into(),
        session: "s1".into(),
        run: "r1".into(),
        ..AuditActor::default()
    };
    assert_eq!(
        asked,
        json!({
            "timeMs": 0,
            "actor": serde_json::to_value(actor).unwrap(),
            "action": "approval.asked",
            "status": "started",
            "tool": "openclaw:core:read",
            "cell": "cell-1",
            "number": 3,
            "code": Value::Null,
            "approval": shown.id,
        })
    );
    let all = text(serde_json::to_value(&events).unwrap()).to_string();
    assert!(!all.contains("secret") && !all.contains("\"x\""), "{all}");
}
