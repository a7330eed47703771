//! The execution path, played against an executor that keeps count.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod approvals;
mod audit;
mod cell;
mod client;
mod hooks;
mod path;
mod policy;
mod toolbox;

use std::sync::{Arc, Mutex};

use codecell_catalog::{Owner, Tool, ToolSpec};
use codecell_tools::{
    ApprovalNews, Approvals, BeforeEvent, BeforeToolCall, BoxFuture, CallContext, CallError, Caller,
    Delivered, ExecutionPath, HookDecision, HookFailure, Json, Outside, ParentCell, PendingApproval,
    Progress, ToolCall, ToolError, ToolExecutor, ToolResult,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn text(value: Value) -> Json {
    Json::from(value)
}

fn tool(owner: Owner, name: &str) -> ToolSpec {
    ToolSpec::new(owner, name, name, json!({ "type": "object" }))
}

fn read() -> Arc<Tool> {
    Arc::new(Tool::alone(tool(Owner::Core, "read")))
}

fn context() -> CallContext {
    CallContext {
        caller: Arc::new(Caller::new("main", "s1", "r1")),
        cell: None,
        number: 0,
        cancel: CancellationToken::new(),
        progress: Progress::default(),
    }
}

fn nested() -> CallContext {
    CallContext {
        cell: Some(Arc::new(ParentCell {
            id: "cell-1".into(),
            language: "javascript",
            source: "await tools.read({})".into(),
            outside: Outside::default(),
        })),
        number: 3,
        ..context()
    }
}

/// An executor that gives the argument back and keeps a list of what it got.
#[derive(Clone, Default)]
struct Echo {
    ran: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }

    fn path(&self) -> ExecutionPath {
        ExecutionPath::bare(Arc::new(self.clone()))
    }
}

impl ToolExecutor for Echo {
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        self.ran.lock().unwrap().push(call.arguments.to_string());
        Box::pin(async move { Ok(ToolResult::of_value(call.arguments)) })
    }
}

/// An executor made of a function, for everything that goes wrong.
struct Runs<F>(F);

impl<F> ToolExecutor for Runs<F>
where
    F: Fn(ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> + Send + Sync + 'static,
{
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        self.0(call)
    }
}

/// A hook made of a function.
struct Before<F>(F);

impl<F> BeforeToolCall for Before<F>
where
    F: Fn(BeforeEvent) -> Result<HookDecision, HookFailure> + Send + Sync + 'static,
{
    fn before(&self, event: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
        let decision = self.0(event);
        Box::pin(async move { decision })
    }
}

fn says(decision: HookDecision) -> Arc<dyn BeforeToolCall> {
    Arc::new(Before(move |_| Ok(decision.clone())))
}

fn reason(outcome: Result<Delivered, CallError>) -> String {
    match outcome.unwrap_err() {
        CallError::Blocked { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

/// What comes while nothing else goes on, or a failure. For paused time.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(std::time::Duration::from_secs(3_600), future)
        .await
        .unwrap()
}

fn value(outcome: Result<Delivered, CallError>) -> String {
    outcome.unwrap().result.value.unwrap().to_string()
}

/// Makes a call in the background and waits until it asks.
async fn asking(
    approvals: &Approvals,
    path: &ExecutionPath,
    context: CallContext,
) -> (
    PendingApproval,
    tokio::task::JoinHandle<Result<Delivered, CallError>>,
) {
    let mut news = approvals.subscribe();
    let path = path.clone();
    let mut call =
        tokio::spawn(async move { path.call(&read(), Some(&text(json!({ "x": 1 }))), context).await });
    loop {
        tokio::select! {
            ended = &mut call => panic!("nobody was asked: {ended:?}"),
            item = news.recv() => if let ApprovalNews::Opened { approval } = item.unwrap() {
                return (*approval, call);
            },
        }
    }
}
