//! `restartSafe`: nothing that could do harm twice is done once.

use serde_json::{Value, json};

use crate::shop::load_shop;
use crate::world::{World, bare};

async fn exec(world: &World, code: &str) -> Value {
    world
        .exec_with(json!({ "code": code, "restartSafe": true }))
        .await
}

const TOOLS: &str = "restart-safe code mode cannot call side-effecting tools. Call replay-safe tools by their exact id, or run \
                     the cell without restartSafe.";
const NAMESPACES: &str =
    "restart-safe code mode cannot call plugin namespaces. Run the cell without restartSafe.";

/// Every way to call something that may do harm, and what is told.
const HARMFUL: &[(&str, &str)] = &[
    ("tools.callValue('openclaw:core:bump', { key: 'k' })", TOOLS),
    ("tools.call('openclaw:core:bump', { key: 'k' })", TOOLS),
    ("tools.callValue('openclaw:shop:list_orders')", TOOLS),
    ("tools.gate({ key: 'k' })", TOOLS),
    ("tools.select_file()", TOOLS),
    ("tools.callValue('client:app:select_file')", TOOLS),
    ("tools.callValue('mcp:Files:read_file', { path: 'p' })", TOOLS),
    ("tools.callValue('no such tool')", TOOLS),
    ("MCP.files.readFile({ path: 'p' })", NAMESPACES),
    ("MCP.files.resources.list()", NAMESPACES),
    ("Shop.list()", NAMESPACES),
    ("namespaces.Shop.orders.cancel(1)", NAMESPACES),
    (
        "Promise.all([tools.echo({ x: 1 }), tools.callValue('openclaw:core:bump', { key: 'k' })])",
        TOOLS,
    ),
    ("Promise.all([tools.echo({ x: 1 }), Shop.list()])", TOOLS),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_call_that_may_do_harm_is_refused_before_anything_runs() {
    let world = World::new("restart-harmful");
    load_shop(&world);
    for (call, told) in HARMFUL {
        let result = exec(&world, &format!("return await {call}")).await;
        let expected = json!({ "status": "failed", "error": told, "code": "invalid_input", "output": [], "replaySafe": true });
        assert_eq!(bare(result), expected, "{call}");
    }
    assert!(world.effects.all().is_empty(), "{:?}", world.effects.all());
    assert_eq!(world.client.pending(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_nobody_awaits_is_refused_as_well() {
    let world = World::new("restart-unawaited");
    load_shop(&world);
    let mut wrong = Vec::new();
    for (call, told) in HARMFUL {
        for (code, told) in [
            (format!("{call}.catch(() => {{}}); return 1"), *told),
            (format!("void {call}; return 1"), *told),
            (
                format!("tools.echo({{ x: 1 }}).then(() => {call}); return 1"),
                *told,
            ),
            (format!("void {call}; throw new Error('first')"), "Error: first"),
        ] {
            let result = exec(&world, &code).await;
            let error = result["error"].as_str().unwrap_or_default();
            if result["status"] != "failed" || !error.starts_with(told) {
                wrong.push(code);
            }
        }
    }
    assert!(
        world.effects.all().is_empty(),
        "{:?} by {wrong:#?}",
        world.effects.all()
    );
    assert_eq!((wrong, world.client.pending()), (Vec::new(), Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_harmful_call_in_a_later_step_is_refused_when_it_is_made() {
    let world = World::new("restart-later");
    let code = "const x = await tools.echo({ x: 1 }); await tools.callValue('openclaw:core:bump', { key: 'k' }); return x";
    let first = exec(&world, code).await;
    assert_eq!(
        (&first["status"], &first["replaySafe"]),
        (&json!("waiting"), &json!(true)),
        "{first:#}"
    );
    let second = world.wait(&first["runId"]).await;
    let expected = json!({ "status": "failed", "error": TOOLS, "code": "invalid_input", "output": [], "replaySafe": true });
    assert_eq!(bare(second), expected);
    assert!(world.effects.all().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn replay_safe_tools_are_called_and_every_waiting_result_says_that_it_may_be_replayed() {
    let world = World::new("restart-safe");
    let mut result = exec(
        &world,
        "const all = await Promise.all([tools.echo({ x: 1 }), tools.callValue('openclaw:core:echo', { x: 2 })]);
         const { result } = await tools.call('openclaw:core:echo', { x: 3 });
         return [...all, result.details]",
    )
    .await;
    let mut waits = 0;
    while result["status"] == "waiting" {
        let said = (&result["replaySafe"], &result["reason"]);
        assert_eq!(said, (&json!(true), &json!("pending_tools")), "{result:#}");
        result = world.wait(&result["runId"]).await;
        waits += 1;
    }
    let expected = json!({ "status": "completed", "value": [1, 2, 3], "output": [], "replaySafe": true });
    assert_eq!(
        (bare(result), waits >= 2),
        (expected, true),
        "calls are never drained on their own"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_things_up_needs_no_wait() {
    let world = World::new("restart-lookups");
    let code =
        "await tools.search('bump'); await tools.describe('openclaw:core:bump'); await API.list('mcp');
                await MCP.files.$api(); return ALL_TOOLS.length > 0";
    let expected = json!({ "status": "completed", "value": true, "output": [], "replaySafe": true });
    assert_eq!(bare(exec(&world, code).await), expected);
}
