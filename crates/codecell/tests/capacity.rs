//! What a whole process may hold. Alone in its binary, because it counts every VM and every suspended run.

use std::sync::Arc;

use codecell::{
    BoxFuture, Caller, Codecell, EngineOptions, RunContext, Settings, Surface, ToolCall, ToolError,
    ToolExecutor, ToolResult, Unobserved,
};
use serde_json::{Value, json};

struct NoTools;

impl ToolExecutor for NoTools {
    fn execute(&self, _: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn suspended_runs_keep_no_vm_and_there_are_at_most_sixty_four() {
    let codecell = Codecell::new(EngineOptions::default()).unwrap();
    let context = RunContext {
        caller: Caller::new("a", "s", "r"),
        surface: Arc::new(Surface::new(Vec::new(), Vec::new(), Arc::new(NoTools))),
        settings: Settings::default(),
        cancel: Default::default(),
        observer: Arc::new(Unobserved),
    };
    let exec = async |code: &str| -> Value {
        serde_json::to_value(codecell.exec(&json!({ "code": code }), context.clone()).await).unwrap()
    };
    let wait = async |run_id: &Value| -> Value {
        serde_json::to_value(codecell.wait(&json!({ "runId": run_id }), context.clone()).await).unwrap()
    };

    let code = "let n = 1; await yield_control(); n++; await yield_control(); return n";
    let mut runs = Vec::new();
    for _ in 0..64 {
        let run = exec(code).await;
        assert_eq!(run["status"], "waiting", "{run:#}");
        runs.push(run["runId"].clone());
    }
    assert_eq!((codecell.live_vms(), codecell.suspended_runs()), (0, 64));

    let refused = exec(code).await;
    assert_eq!(refused["code"], "invalid_input");
    assert!(
        refused["error"]
            .as_str()
            .unwrap()
            .starts_with("too many suspended code mode runs."),
        "{refused:#}"
    );
    assert_eq!(exec("return 7").await["value"], 7, "computation needs no slot");

    for run in &runs {
        let again = wait(run).await;
        assert_eq!(
            (&again["status"], &again["runId"]),
            (&json!("waiting"), run),
            "a resume keeps its slot"
        );
    }
    assert_eq!((codecell.live_vms(), codecell.suspended_runs()), (0, 64));
    for run in &runs {
        assert_eq!(wait(run).await["value"], 2);
    }
    assert_eq!((codecell.live_vms(), codecell.suspended_runs()), (0, 0));

    codecell.shutdown();
    assert_eq!(exec("return 1").await["code"], "aborted");
}
