//! Suspension, waiting and resuming.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use codecell::tools::{
    Approvals, AskRule, ClientTools, DecideError, Decision, Resolution, Restrictions, Severity,
    ToolDefinition, Toolbox,
};
use codecell::{
    CallEnd, Caller, Codecell, EngineOptions, Json, NestedCall, Observer, Settings, Surface, ToolExecutor,
};
use futures_util::future::join_all;
use serde_json::json;

use crate::play::{completed, failed, from_there, to_the_end, twice};
use crate::source::{core, named};
use crate::tools::{Bench, bare};

const GONE: &str = "code mode run is unavailable or expired. Start over with a new exec.";

fn short() -> Settings {
    Settings {
        timeout: Duration::from_millis(150),
        ..Settings::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s1_a_promise_that_nothing_can_wake_fails_at_once() {
    let bench = Bench::new();
    let stuck = failed(
        "internal_error",
        "code mode promise is pending without host work: nothing can wake this program. Await a tool call, a timer or \
         yield_control, or return.",
    );
    for code in [
        "await new Promise(()=>{})",
        "await Promise.race([])",
        "await { then() {} }",
        "await Promise.all([tools.echo({x: 1}), new Promise(() => {})])",
        "const p = new Promise(() => {}); await tools.echo({x: 1}); await p",
        "for await (const x of { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }) ;",
    ] {
        assert_eq!(twice(&bench, code).await, stuck, "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_of_many_waits_one_wins_and_the_call_is_made_once() {
    let bench = Bench::new();
    let code = "await yield_control(); await tools.bump({key: 'one'}); await yield_control(); return await tools.bump({key: 'two'})";
    let first = bench.exec(code).await;
    let elsewhere = Codecell::new(EngineOptions::default()).unwrap();
    let (mut waiting, mut completed) = (0, 0);
    // Often two rounds, one for each leg; a leg can also be over before the last of its round asks.
    while completed == 0 {
        let context = || bench.context.clone();
        let arguments = json!({ "runId": first["runId"] });
        let from_another_process = join_all((0..5).map(|_| elsewhere.wait(&arguments, context())));
        let (results, foreign) = tokio::join!(
            join_all((0..50).map(|_| bench.wait(&first["runId"]))),
            from_another_process
        );
        for result in &results {
            match result["status"].as_str() {
                Some("waiting") => waiting += 1,
                Some("completed") => completed += 1,
                _ => assert_eq!(result["code"], "invalid_input", "{result:#}"),
            }
        }
        for result in foreign {
            assert_eq!(
                bare(serde_json::to_value(result).unwrap()),
                failed("invalid_input", GONE)
            );
        }
    }
    assert_eq!((waiting, completed), (1, 1));
    assert_eq!((bench.counters.get("one"), bench.counters.get("two")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn s4_an_approval_given_twice_counts_once() {
    let approvals = Approvals::new();
    let _route = approvals.add_route();
    let mut bench = Bench::with(short());
    let surface = Arc::clone(&bench.context.surface);
    let rule = AskRule {
        selectors: Restrictions::parse(&["bump"]).unwrap(),
        timeout: None,
        severity: Severity::Critical,
    };
    let path = surface
        .path()
        .clone()
        .with_approvals(approvals.clone())
        .with_ask_rules(vec![rule]);
    let tools = surface
        .catalog()
        .tools()
        .map(|tool| tool.spec().clone())
        .collect();
    bench.context.surface = Arc::new(Surface::guarded(tools, Vec::new(), path));

    let code = "await yield_control(); return await tools.bump({key: 'once'})";
    let first = bench.exec(code).await;
    // It asks in its first or second leg, as time allows.
    while approvals.list().is_empty() {
        assert_eq!(bench.wait(&first["runId"]).await["status"], "waiting");
    }
    let [question] = <[_; 1]>::try_from(approvals.list()).unwrap();
    assert_eq!(question.arguments, Json::from(json!({ "key": "once" })));
    assert_eq!(bench.counters.get("once"), 0, "nothing runs before the answer");

    let settled = Err(DecideError::Settled {
        id: question.id.clone(),
        resolution: Resolution::AllowedOnce,
    });
    assert_eq!(approvals.decide(&question.id, Decision::AllowOnce), Ok(()));
    assert_eq!(approvals.decide(&question.id, Decision::AllowOnce), settled);
    assert_eq!(from_there(&bench, first).await.0, completed(1));
    assert_eq!(approvals.decide(&question.id, Decision::Deny), settled);
    assert_eq!(bench.counters.get("once"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn s6_a_yielded_cell_resumes_after_other_cells_of_its_session() {
    let bench = Bench::new();
    let first = bench
        .exec("const kept = 'mine'; await yield_control('a'); return kept")
        .await;
    assert_eq!(
        (&first["status"], &first["reason"]),
        (&json!("waiting"), &json!("yield"))
    );
    let second = bench
        .exec("const kept = 'other'; await yield_control('b'); return kept")
        .await;
    assert_eq!(bench.value("return typeof kept").await, "undefined");
    assert_eq!(bench.exec("throw 1").await["status"], "failed");
    assert_eq!(bare(bench.wait(&second["runId"]).await), completed("other"));
    assert_eq!(bare(bench.wait(&first["runId"]).await), completed("mine"));
}

#[tokio::test(flavor = "multi_thread")]
async fn s7_a_call_that_has_ended_ends_the_wait_for_it() {
    let bench = Bench::new();
    for code in [
        "return await tools.slow({ms: 200, v: 'ended'})",
        "await tools.slow({ms: 20}); await tools.slow({ms: 20}); return 'ended'",
        "await new Promise(done => setTimeout(done, 20)); return await tools.echo({x: 'ended'})",
    ] {
        let (straight, waits) = to_the_end(&bench, json!({ "code": code })).await;
        assert_eq!((straight, waits), (completed("ended"), 0), "{code}");
        assert_eq!(twice(&bench, code).await, completed("ended"), "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s8_a_vm_that_ends_takes_its_open_calls_along() {
    let ends = [
        ("while (true) {}", "timeout"),
        (
            "const a = []; for (;;) a.push(new Uint8Array(4e6).fill(1))",
            "internal_error",
        ),
        ("for (;;) text('x'.repeat(1000))", "output_limit_exceeded"),
        ("throw new Error('over')", "internal_error"),
    ];
    for (end, code) in ends {
        for park in ["", "await yield_control();"] {
            let bench = match code {
                "timeout" => Bench::with(short()),
                _ => Bench::new(),
            };
            let program = format!(
                "const open = Array.from({{length: 6}}, () => tools.never()); await tools.echo({{x: 1}}); {park} {end}"
            );
            let (result, _) = to_the_end(&bench, json!({ "code": program })).await;
            assert_eq!(result["code"], code, "{program}\n{result:#}");
            while bench.counters.get("cancelled never") < 6 {
                tokio::task::yield_now().await;
            }
            assert_eq!(bench.counters.get("start never"), 6);
            assert_eq!(Bench::new().value("return 1").await, 1);
        }
    }
}

/// A bench whose only tool is run by the application.
fn with_application(settings: Settings) -> (Bench, ClientTools) {
    let pick = ToolDefinition::new("pick", "Lets the user pick a file", json!({ "type": "object" }));
    let (application, refused) = ClientTools::new("app", vec![pick]);
    assert_eq!(refused, []);
    let toolbox = Toolbox::builder().client(application.clone()).build().unwrap();
    let tools = toolbox.specs();
    let executor: Arc<dyn ToolExecutor> = Arc::new(toolbox);
    let mut bench = Bench::with(settings);
    bench.context.surface = Arc::new(Surface::new(tools, Vec::new(), executor));
    (bench, application)
}

#[tokio::test(flavor = "multi_thread")]
async fn s10_a_run_that_waits_for_the_application_is_continued_and_no_other() {
    let (mut bench, application) = with_application(short());
    let code = "const before = 'kept'; const picked = await tools.pick(); return [before, picked]";
    let first = bench.exec(code).await;
    let pending = json!([{ "id": "bridge:callValue:1", "method": "callValue", "tool": "client:app:pick" }]);
    assert_eq!(
        (&first["status"], &first["pendingToolCalls"]),
        (&json!("waiting"), &pending)
    );
    assert_eq!(
        bench.wait(&first["runId"]).await["runId"],
        first["runId"],
        "it still waits"
    );
    let [call] = <[_; 1]>::try_from(application.pending()).unwrap();
    application
        .answer(&call.id, Ok(Json::from(json!("a.txt"))))
        .unwrap();
    // The transport is another one, the identity is the same.
    bench.context.cancel = Default::default();
    let (result, _) = from_there(&bench, first).await;
    assert_eq!(result, completed(json!(["kept", "a.txt"])));
}

#[tokio::test(flavor = "multi_thread")]
async fn s10_an_expired_run_says_so_and_nothing_new_is_started() {
    let (bench, application) = with_application(Settings {
        snapshot_ttl: Duration::from_secs(1),
        ..short()
    });
    let first = bench.exec("return await tools.pick()").await;
    assert_eq!(first["status"], "waiting", "{first:#}");
    assert_eq!(application.pending().len(), 1);
    let mut news = application.subscribe();
    if !application.pending().is_empty() {
        news.recv().await.unwrap();
    }
    for _ in 0..2 {
        assert_eq!(
            bare(bench.wait(&first["runId"]).await),
            failed("invalid_input", GONE)
        );
    }
    assert_eq!(application.pending(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn s11_a_run_of_an_earlier_process_is_unavailable_and_the_caller_starts_over() {
    let bench = Bench::new();
    let first = bench.exec("await yield_control(); return 1").await;
    let restarted = Codecell::new(EngineOptions::default()).unwrap();
    for id in [
        first["runId"].clone(),
        json!("cm_0"),
        json!("../../etc/passwd"),
        json!("x".repeat(10_000)),
    ] {
        let result = restarted
            .wait(&json!({ "runId": id }), bench.context.clone())
            .await;
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(bare(result), failed("invalid_input", GONE));
    }
    assert_eq!(
        bare(bench.wait(&first["runId"]).await),
        completed(1),
        "its own process still has it"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn s13_runs_of_two_sessions_see_nothing_of_each_other() {
    let session = |name: &str| {
        let (mut bench, _) = named(vec![core(&format!("only_{name}"))], Vec::new());
        bench.context.caller = Caller::new("agent", name, "run");
        bench
    };
    let (one, two) = (session("one"), session("two"));
    let code = "globalThis.mark = (globalThis.mark ?? 0) + 1; Array.prototype.mark = mark; tools.own = 1;
        await yield_control();
        globalThis.mark++;
        await yield_control();
        return [globalThis.mark, [].mark, ALL_TOOLS.map(tool => tool.name), Object.keys(tools).filter(key => key.startsWith('only'))]";
    let (first, second) = (one.exec(code).await, two.exec(code).await);
    assert_eq!(
        (&first["status"], &second["status"]),
        (&json!("waiting"), &json!("waiting")),
        "{first:#}"
    );
    let foreign = bare(two.wait(&first["runId"]).await);
    assert_eq!(
        foreign,
        failed("invalid_input", "code mode run belongs to a different session.")
    );
    assert_eq!(one.wait(&first["runId"]).await["status"], "waiting");
    assert_eq!(two.wait(&second["runId"]).await["status"], "waiting");
    for (bench, run, name) in [(&two, second, "only_two"), (&one, first, "only_one")] {
        let expected = json!([2, 1, [name], [name]]);
        assert_eq!(bare(bench.wait(&run["runId"]).await), completed(expected));
    }
    let clean = "return [typeof mark, [].mark, typeof tools.own]";
    assert_eq!(one.value(clean).await, json!(["undefined", null, "undefined"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn s14_every_one_of_many_calls_is_told_to_whoever_watches() {
    #[derive(Default)]
    struct Watching(Mutex<(Vec<u32>, Vec<u32>)>);
    impl Observer for Watching {
        fn call_started(&self, call: &NestedCall) {
            self.0.lock().unwrap().0.push(call.number);
        }
        fn call_finished(&self, call: &NestedCall, _: &CallEnd<'_>) {
            self.0.lock().unwrap().1.push(call.number);
        }
    }
    let watching = Arc::<Watching>::default();
    let mut bench = Bench::new();
    bench.context.observer = Arc::<Watching>::clone(&watching);
    let code = "for (let n = 0; n < 300; n++) { if (n === 150) await yield_control(); await tools.echo({x: n}) } return 'done'";
    let (result, waits) = to_the_end(&bench, json!({ "code": code })).await;
    assert_eq!((result, waits), (completed("done"), 1));
    let (started, finished) = watching.0.lock().unwrap().clone();
    assert_eq!((started.len(), started.is_sorted()), (300, true));
    assert_eq!(finished, started, "each in its turn, also across the suspension");
}
