//! Hostile and clumsy input at the boundary: one typed outcome each.

use std::time::Duration;

use codecell::Caller;
use serde_json::{Value, json};

use crate::world::{World, bare, completed};

const UNAVAILABLE: &str = "code mode run is unavailable or expired. Start over with a new exec.";
const NO_RUN_ID: &str =
    "runId must be a non-empty string: the `runId` of a result whose status is \"waiting\".";

async fn refused(world: &World, arguments: Value, told: &str) {
    let shown: String = arguments.to_string().chars().take(80).collect();
    let result = serde_json::to_value(world.codecell.wait(&arguments, world.context()).await).unwrap();
    let expected = json!({ "status": "failed", "code": "invalid_input", "error": told, "output": [] });
    assert_eq!(bare(result), expected, "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_ids_that_name_no_run_are_refused_whatever_they_are() {
    let world = World::new("edges-ids");
    let first = world.exec("await yield_control(); return 1").await;
    let id = first["runId"].as_str().unwrap();
    let forged = [
        "cm_0".to_owned(),
        "../../etc/passwd".to_owned(),
        "cm_00000000-0000-4000-8000-000000000000".to_owned(),
        id.to_uppercase(),
        format!("{id}0"),
        id[..id.len() - 1].to_owned(),
        format!("{id}\u{0}"),
        "__proto__".to_owned(),
        "🦀".to_owned(),
        "x".repeat(10 << 20),
    ];
    for id in forged {
        refused(&world, json!({ "runId": id }), UNAVAILABLE).await;
    }
    for junk in [
        json!({ "runId": "" }),
        json!({ "runId": " \n" }),
        json!({ "runId": 7 }),
        json!({ "runId": null }),
        json!({ "runId": [id] }),
        json!({ "runId": { "id": id } }),
        json!({}),
        json!([]),
        json!(null),
        json!(id),
    ] {
        refused(&world, junk, NO_RUN_ID).await;
    }
    assert_eq!(
        completed(world.wait(&first["runId"]).await),
        1,
        "the refusals changed nothing"
    );
    refused(&world, json!({ "runId": first["runId"] }), UNAVAILABLE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_id_is_of_no_use_to_anybody_else() {
    let mut world = World::new("edges-foreign");
    let first = world.exec("await yield_control(); return 1").await;
    let own = world.caller.clone();
    let other_run = "code mode run belongs to a different agent run.";
    let other_session = "code mode run belongs to a different session.";
    for (caller, told) in [
        (Caller::new("other", "edges-foreign", "run"), other_run),
        (Caller::new("agent", "edges-foreign", "other"), other_run),
        (Caller::new("agent", "edges-foreign", ""), other_run),
        (Caller::new("", "", ""), other_run),
        (Caller::new("agent", "edges-other", "run"), other_session),
        (Caller::new("agent", "", "run"), other_session),
    ] {
        world.caller = caller;
        refused(&world, json!({ "runId": first["runId"] }), told).await;
    }
    world.caller = own;
    assert_eq!(completed(world.wait(&first["runId"]).await), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_waits_at_once_one_carries_on_and_the_others_change_nothing() {
    let world = World::new("edges-race");
    let code = "const slow = tools.gate({ key: 'a' }); await yield_control();
                return [await slow, await tools.callValue('openclaw:core:bump', { key: 'once' })]";
    let first = world.exec(code).await;
    world.gates.open("a");
    let results = futures_util::future::join_all((0..50).map(|_| world.wait(&first["runId"]))).await;
    let (won, lost): (Vec<Value>, Vec<Value>) = results
        .into_iter()
        .map(bare)
        .partition(|result| result["status"] == "completed");
    assert_eq!(
        won.iter().map(|result| &result["value"]).collect::<Vec<_>>(),
        [&json!(["passed a", 1])]
    );
    let busy = "code mode run is already being resumed. Wait for that call's result.";
    for result in lost {
        let told = result["error"].as_str().unwrap();
        assert!(
            result["code"] == "invalid_input" && (told == busy || told == UNAVAILABLE),
            "{result:#}"
        );
    }
    assert_eq!(
        (world.effects.count("at gate a"), world.effects.count("once")),
        (1, 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_thousand_calls_at_once_as_many_as_the_queue_holds_are_made_and_each_of_the_others_rejects() {
    let mut world = World::new("edges-flood");
    world.settings.timeout = Duration::from_secs(60);
    let code = "
        const calls = Array.from({ length: 10000 }, (_, x) => tools.callValue('openclaw:core:echo', { x }));
        const all = await Promise.allSettled(calls);
        const made = all.filter(one => one.status === 'fulfilled');
        const not = all.filter(one => one.status === 'rejected');
        return { made: made.length, right: made.every((one, x) => one.value === x), not: not.length,
                 told: [...new Set(not.map(one => `${one.reason.code}: ${one.reason.message}`))],
                 after: await tools.echo({ x: 'still here' }) }";
    let result = world.exec(code).await;
    let told = "queue_full: too many pending code mode tool calls: 16 may run at once and 1024 may wait; await some calls \
                before starting more";
    let expected = json!({ "made": 1040, "right": true, "not": 8960, "told": [told], "after": "still here" });
    assert_eq!(result["telemetry"]["callCount"], 1041, "{result:#}");
    assert_eq!(result.get("warnings"), None);
    assert_eq!(completed(result), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_that_nobody_awaits_ends_with_a_bounded_result() {
    let mut world = World::new("edges-flood-unawaited");
    world.settings.timeout = Duration::from_secs(60);
    let code =
        "for (let i = 0; i < 10000; i++) tools.callValue('openclaw:core:bump', { key: 'k' }); return 'done'";
    let result = world.exec(code).await;
    assert_eq!(
        (&result["value"], world.effects.count("k")),
        (&json!("done"), 1040)
    );
    let warnings = result["warnings"].to_string();
    assert!(
        warnings.contains("\"truncated\"") && warnings.len() <= 4096 + 2,
        "{}",
        warnings.len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_after_ten_thousand_calls_however_quick_they_are() {
    let mut world = World::new("edges-calls");
    world.settings.timeout = Duration::from_secs(60);
    let code = "
        let made = 0;
        try { for (;;) { await Promise.all(Array.from({ length: 500 }, async () => { await tools.echo({ x: 1 }); made++ })) } }
        catch (e) { return [made, e.code, e.message] }";
    let told = "this run has made 10000 tool calls, which is the limit for one run";
    assert_eq!(world.value(code).await, json!([10_000, "call_limit", told]));
}
