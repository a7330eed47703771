//! Suspension, resume, and who may do it.

use std::time::Duration;

use codecell::{Caller, Settings};
use serde_json::{Value, json};

use crate::tools::{Bench, bare};

/// Everything that must survive: closures, generators, Maps, private fields, pending promises, typed arrays.
const RICH: &str = "
    const seen = new Map([['a', { n: 1 }]]);
    const count = ((n) => () => ++n)(10);
    function* walk() { yield 'one'; yield 'two' }
    const walker = walk(); walker.next();
    class Vault { #secret = 42; open() { return this.#secret } }
    const vault = new Vault();
    const bytes = new Uint8Array([1, 2, 3]);
    const pending = tools.slow({ ms: 150, v: 'arrived' });
    count();
    text('before');
    await yield_control('look');
    text('after');
    return { map: seen.get('a').n, count: count(), walk: walker.next().value, vault: vault.open(),
             bytes: Array.from(bytes), pending: await pending, random: typeof Math.random() };";

fn short() -> Settings {
    Settings {
        timeout: Duration::from_millis(150),
        ..Settings::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_cell_goes_on_with_everything_it_had() {
    let bench = Bench::new();
    let first = bench.exec(RICH).await;
    assert_eq!(
        (&first["status"], &first["reason"]),
        (&json!("waiting"), &json!("pending_tools")),
        "{first:#}"
    );
    assert_eq!(first["output"], json!([{ "type": "text", "text": "before" }]));
    let pending = first["pendingToolCalls"].as_array().unwrap();
    let methods: Vec<&str> = pending
        .iter()
        .map(|call| call["method"].as_str().unwrap())
        .collect();
    assert_eq!(methods, ["callValue", "yield"]);

    let second = bench.wait(&first["runId"]).await;
    let expected = json!({
        "status": "completed",
        "value": { "map": 1, "count": 12, "walk": "two", "vault": 42, "bytes": [1, 2, 3],
                   "pending": "arrived", "random": "number" },
        "output": [{ "type": "text", "text": "after" }],
    });
    assert_eq!(bare(second), expected);
    assert_eq!(bench.counters.get("start slow"), 1, "a call is dispatched once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yield_says_so_and_a_run_id_is_good_until_the_run_ends() {
    let bench = Bench::new();
    let code = "const a = await yield_control('one'); const b = await yield_control(); return [a, b]";
    let first = bench.exec(code).await;
    assert_eq!(first["reason"], "yield");
    let second = bench.wait(&first["runId"]).await;
    assert_eq!(
        (&second["status"], &second["runId"]),
        (&json!("waiting"), &first["runId"]),
        "a run keeps its name"
    );
    let third = bench.wait(&first["runId"]).await;
    let expected = json!([{ "status": "yielded", "reason": "one" }, { "status": "yielded", "reason": null }]);
    assert_eq!(third["value"], expected, "{third:#}");
    let again = bench.wait(&first["runId"]).await;
    assert_eq!(again["code"], "invalid_input");
    assert_eq!(
        again["error"],
        "code mode run is unavailable or expired. Start over with a new exec."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_call_outlives_the_budget_and_is_waited_for_without_a_second_dispatch() {
    let bench = Bench::with(short());
    let mut result = bench
        .exec("return await tools.slow({ms: 500, v: 'at last'})")
        .await;
    let mut legs = 1;
    while result["status"] == "waiting" {
        assert_eq!(result["reason"], "pending_tools");
        result = bench.wait(&result["runId"]).await;
        legs += 1;
    }
    assert_eq!(
        (&result["value"], bench.counters.get("start slow")),
        (&json!("at last"), 1),
        "{result:#}"
    );
    assert!(legs >= 3, "the budget was 150 ms a leg");
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_survive_and_are_shown_as_pending() {
    let bench = Bench::with(short());
    let mut result = bench
        .exec("await new Promise(done => setTimeout(done, 400)); return 'rang'")
        .await;
    let pending = result["pendingToolCalls"].as_array().unwrap();
    assert_eq!((pending.len(), &pending[0]["method"]), (1, &json!("timer")));
    assert_eq!(result["reason"], "pending_tools");
    while result["status"] == "waiting" {
        result = bench.wait(&result["runId"]).await;
    }
    assert_eq!(result["value"], "rang", "{result:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promise_that_nothing_can_wake_fails_at_once() {
    let bench = Bench::new();
    let result = bench.exec("await new Promise(() => {})").await;
    assert_eq!(result["code"], "internal_error");
    assert!(
        result["error"]
            .as_str()
            .unwrap()
            .contains("nothing can wake this program"),
        "{result:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_same_agent_session_and_run_may_resume_and_a_refusal_changes_nothing() {
    let bench = Bench::new();
    let first = bench.exec("await yield_control(); return 'mine'").await;
    let strangers = [
        (
            Caller::new("other", "session", "run"),
            "code mode run belongs to a different agent run.",
        ),
        (
            Caller::new("agent", "session", ""),
            "code mode run belongs to a different agent run.",
        ),
        (
            Caller::new("agent", "other", "run"),
            "code mode run belongs to a different session.",
        ),
        (
            Caller::new("agent", "", "run"),
            "code mode run belongs to a different session.",
        ),
    ];
    for (stranger, says) in strangers {
        let mut context = bench.context.clone();
        context.caller = stranger;
        let refused = bench
            .codecell
            .wait(&json!({ "runId": first["runId"] }), context)
            .await;
        let refused: Value = serde_json::to_value(&refused).unwrap();
        assert_eq!(
            (&refused["code"], &refused["error"]),
            (&json!("invalid_input"), &json!(says))
        );
    }
    assert_eq!(bench.wait(&first["runId"]).await["value"], "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_waits_at_once_one_wins_and_the_call_is_made_once() {
    let bench = Bench::new();
    let first = bench
        .exec("await yield_control(); return await tools.bump({key: 'once'})")
        .await;
    let results = futures_util::future::join_all((0..50).map(|_| bench.wait(&first["runId"]))).await;
    let won = results
        .iter()
        .filter(|result| result["status"] == "completed")
        .count();
    let refused = results
        .iter()
        .filter(|result| result["code"] == "invalid_input")
        .count();
    assert_eq!((won, refused, bench.counters.get("once")), (1, 49, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_drops_its_runs_and_cancels_their_calls() {
    let mut bench = Bench::with(short());
    bench.context.caller.session = "ending".into();
    let first = bench.exec("return await tools.never()").await;
    assert_eq!(first["status"], "waiting", "{first:#}");
    bench.codecell.abort_session("ending");
    assert_eq!(bench.wait(&first["runId"]).await["code"], "invalid_input");
    while bench.counters.get("cancelled never") == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_run_is_gone_and_its_calls_are_cancelled_by_a_timer() {
    let bench = Bench::with(Settings {
        snapshot_ttl: Duration::from_secs(1),
        ..short()
    });
    let first = bench.exec("return await tools.never()").await;
    assert_eq!(first["status"], "waiting", "{first:#}");
    // Nobody asks: the timer alone must end it.
    while bench.counters.get("cancelled never") == 0 {
        tokio::task::yield_now().await;
    }
    let late = bench.wait(&first["runId"]).await;
    assert_eq!(
        late["error"],
        "code mode run is unavailable or expired. Start over with a new exec."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_exec_is_aborted_and_so_are_its_calls() {
    let bench = Bench::new();
    let cancel = bench.context.cancel.clone();
    let watch = async {
        while bench.counters.get("start never") == 0 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(bench.exec("return await tools.never()"), watch);
    assert_eq!(
        (&result["code"], &result["error"]),
        (&json!("aborted"), &json!("code mode execution aborted"))
    );
    while bench.counters.get("cancelled never") == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_is_too_large_fails_typed() {
    let bench = Bench::with(Settings {
        max_snapshot_bytes: 1024,
        ..Settings::default()
    });
    let code = "const keep = []; for (let i = 0; i < 1e5; i++) keep.push(Math.random()); await yield_control(); return 1";
    let result = bench.exec(code).await;
    assert_eq!(result["code"], "snapshot_limit_exceeded", "{result:#}");
    assert_eq!(
        bench.value("return await tools.echo({x: 1})").await,
        json!(1),
        "calls that settle need no image"
    );
}
