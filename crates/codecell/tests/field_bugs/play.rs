//! The ways a program is played, and what it is compared with.

use codecell::{Owner, ServerInfo, Settings, Surface, ToolSpec};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::tools::{Bench, bare};

/// Where a program may be suspended: a line of its own, so that no position moves.
const PARK: &str = "//park\n";

/// The ids under which the tool `name` of [`everywhere`] can be called through `tools`.
pub(crate) fn doors(name: &str) -> [String; 3] {
    ["openclaw:core", "openclaw:plug", "client:app"].map(|owner| format!("{owner}:{name}"))
}

/// The tools of the bench as core, plugin, MCP and client tools at once, on the same counters.
pub(crate) fn everywhere() -> Bench {
    let mut bench = Bench::with(Settings::default());
    let surface = Arc::clone(&bench.context.surface);
    let core: Vec<ToolSpec> = surface
        .catalog()
        .tools()
        .filter(|tool| tool.spec().owner == Owner::Core)
        .map(|tool| tool.spec().clone())
        .collect();
    let owners = [
        Owner::Core,
        Owner::BundledPlugin("plug".into()),
        Owner::Mcp("Fixture Server".into()),
        Owner::Client("app".into()),
    ];
    let owned = |owner: &Owner| {
        let owner = owner.clone();
        core.iter().cloned().map(move |tool| ToolSpec {
            owner: owner.clone(),
            ..tool
        })
    };
    let tools = owners.iter().flat_map(owned).collect();
    let servers = vec![ServerInfo::ready("Fixture Server")];
    bench.context.surface = Arc::new(Surface::guarded(tools, servers, surface.path().clone()));
    bench
}

/// Plays a cell to its end through as many waits as it takes; the output of all of them is together, telemetry left
/// out. Gives the number of waits too.
pub(crate) async fn to_the_end(bench: &Bench, cell: Value) -> (Value, usize) {
    let first = bench.exec_with(cell).await;
    from_there(bench, first).await
}

/// The same from a result on.
pub(crate) async fn from_there(bench: &Bench, mut result: Value) -> (Value, usize) {
    let mut output = Vec::new();
    let mut waits = 0;
    loop {
        output.extend(result["output"].as_array().unwrap().iter().cloned());
        if result["status"] != "waiting" {
            break;
        }
        waits += 1;
        result = bench.wait(&result["runId"]).await;
    }
    result["output"] = Value::Array(output);
    (bare(result), waits)
}

/// Plays a JavaScript cell straight through, and once more suspended where it says `//park`, or before its first
/// line. Both must come to the same, which is given back.
pub(crate) async fn twice(bench: &Bench, code: &str) -> Value {
    twice_in(bench, "javascript", code).await
}

pub(crate) async fn twice_in(bench: &Bench, language: &str, code: &str) -> Value {
    let code = if code.contains(PARK) {
        code.to_owned()
    } else {
        format!("{PARK}{code}")
    };
    let parked = code.replace(PARK, "await yield_control();\n");
    let (straight, _) = to_the_end(bench, json!({ "code": code, "language": language })).await;
    let (resumed, waits) = to_the_end(bench, json!({ "code": parked, "language": language })).await;
    assert!(waits > 0, "the program was never suspended:\n{parked}");
    assert_eq!(resumed, straight, "suspended and resumed:\n{parked}");
    straight
}

/// Plays every program twice and compares what it came to.
pub(crate) async fn all_twice(bench: &Bench, cases: impl IntoIterator<Item = (impl AsRef<str>, Value)>) {
    for (code, expected) in cases {
        let code = code.as_ref();
        assert_eq!(twice(bench, code).await, expected, "{code}");
    }
}

pub(crate) fn completed(value: impl Into<Value>) -> Value {
    json!({ "status": "completed", "value": value.into(), "output": [] })
}

pub(crate) fn warned(value: impl Into<Value>, warnings: Value) -> Value {
    json!({ "status": "completed", "value": value.into(), "output": [], "warnings": warnings })
}

pub(crate) fn failed(code: &str, error: impl Into<String>) -> Value {
    json!({ "status": "failed", "code": code, "error": error.into(), "output": [] })
}
