//! Limits that were counted wrongly.

use std::sync::Arc;
use std::time::Duration;

use codecell::{Caller, Codecell, EngineOptions, Owner, Settings};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::play::{all_twice, completed, failed, to_the_end, twice};
use crate::source::{answering, core, named, tool, value};
use crate::tools::{Bench, bare};

fn within(timeout_ms: u64) -> Settings {
    Settings {
        timeout: Duration::from_millis(timeout_ms),
        ..Settings::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l1_calls_are_counted_over_every_suspension() {
    let bench = Bench::with(within(60_000));
    let code = "let n = 0; try { for (;;) { if (n % 2500 === 0) await yield_control(); await tools.echo({x: ++n}) } }
        catch (e) { return [n, e.message] }";
    let (result, waits) = to_the_end(&bench, json!({ "code": code })).await;
    assert_eq!(waits, 5);
    assert_eq!(result["value"][0], 10_001, "{result:#}");
    let message = result["value"][1].as_str().unwrap();
    assert!(message.contains("10000 tool calls"), "{message}");
    assert_eq!(bench.counters.get("start echo"), 10_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn l2_a_call_starts_when_its_turn_comes_and_all_of_them_succeed() {
    // Each answer waits until four calls run: with fewer at once there would be none, with more the count would show.
    let four = Arc::new(Barrier::new(4));
    let (mut bench, source) = answering(vec![core("slow")], Vec::new(), move |call| {
        let four = Arc::clone(&four);
        Box::pin(async move {
            four.wait().await;
            Ok(value(&call, json!(1)))
        })
    });
    bench.context.settings.max_pending_tool_calls = 4;
    let code = "const calls = Array.from({length: 64}, () => tools.slow());\n//park\nreturn (await Promise.all(calls)).length";
    assert_eq!(twice(&bench, code).await, completed(64));
    assert_eq!(source.calls().len(), 2 * 64);
}

#[tokio::test(flavor = "multi_thread")]
async fn l3_the_loser_of_a_race_is_cancelled_and_nothing_is_retained() {
    let mut bench = Bench::new();
    bench.codecell = Codecell::new(EngineOptions::default()).unwrap();
    for code in [
        "return await Promise.race([tools.never(), tools.slow({ms: 10, v: 'won'})])",
        "const race = Promise.race([tools.never(), tools.slow({ms: 10, v: 'won'})]);\n//park\nreturn await race",
        "tools.never(); return 'won'",
    ] {
        let result = twice(&bench, code).await;
        assert_eq!(result["value"], "won", "{result:#}");
        let warnings = result["warnings"].as_array().unwrap();
        let [warning] = warnings.as_slice() else {
            panic!("{result:#}")
        };
        assert_eq!(
            (&warning["kind"], &warning["tool"]),
            (&json!("cancelled"), &json!("openclaw:core:never")),
            "{result:#}"
        );
    }
    while bench.counters.get("cancelled never") < 6 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        (bench.codecell.live_vms(), bench.codecell.suspended_runs()),
        (0, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn l4_two_megabytes_of_nested_source_are_refused() {
    let bench = Bench::new();
    let generics = format!("let x: {}1{}", "A<".repeat(400_000), ">".repeat(400_000));
    let parentheses = format!("return {}1{}", "(".repeat(1_000_000), ")".repeat(1_000_000));
    let below_the_size = format!("let x: {}1{}", "A<".repeat(100_000), ">".repeat(100_000));
    let arrows = format!("return {}1", "(a = ".repeat(20_000));
    for code in [generics, parentheses, below_the_size, arrows] {
        for language in ["javascript", "typescript"] {
            let result = bench
                .exec_with(json!({ "code": code, "language": language }))
                .await;
            assert_eq!(result["code"], "invalid_input", "{language}: {:?}", &code[..40]);
            let error = result["error"].as_str().unwrap();
            assert!(error.len() < 500, "{error}");
        }
    }
    assert_eq!(bench.value("return 1").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn l7_a_value_of_twenty_mebibytes_fails_typed_and_the_next_run_is_fine() {
    let roomy = Bench::with(Settings {
        memory_limit_bytes: 256 << 20,
        ..Settings::default()
    });
    let kind = "output_limit_exceeded";
    let error = "code mode output limit exceeded (65536 bytes for value, output and error together). Return and print \
                 less: filter or summarise the data in the program.";
    let bench = Bench::new();
    for code in [
        "return 'x'.repeat(20 << 20)",
        "return { a: ['x'.repeat(20 << 20)] }",
        "text('x'.repeat(20 << 20))",
        "json(['x'.repeat(20 << 20)])",
        "return 'x'.repeat(1 << 20)",
        "return new Uint8Array(1 << 20)",
        "return '\\u0000'.repeat(11000)",
    ] {
        for bench in [&bench, &roomy] {
            let result = twice(bench, code).await;
            let says_how_much = result["output"]
                .to_string()
                .contains("bytes left out; the limit is 65536 bytes");
            assert_eq!(
                (&result["code"], &result["error"]),
                (&json!(kind), &json!(error)),
                "{code}"
            );
            assert!(says_how_much, "{code}\n{result:#}");
        }
        assert_eq!(bench.value("return 'fine'").await, "fine");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l8_an_oversized_argument_is_refused_at_the_call_with_size_and_limit() {
    let bench = Bench::new();
    let caught = |call: &str| {
        format!(
            "const x = 'x'.repeat(SIZE);\n//park\ntry {{ return (await {call}).length }} catch (e) {{ return [e.name, e.message] }}"
        )
    };
    for call in ["tools.echo({x})", "tools.callValue('openclaw:core:echo', {x})"] {
        let fits = caught(call).replace("SIZE", "2 << 20");
        assert_eq!(twice(&bench, &fits).await, completed(2 << 20), "{call}");
        // The catalog's limit, and the wall's own above it.
        for (size, bytes, limit) in [
            ("(4 << 20) + 1", "4194313", "4194304"),
            ("8 << 20", "8388616", "8388608"),
        ] {
            let result = twice(&bench, &caught(call).replace("SIZE", size)).await;
            assert_eq!(result["value"][0], "RangeError", "{result:#}");
            let message = result["value"][1].as_str().unwrap();
            assert!(message.contains(bytes) && message.contains(limit), "{message}");
        }
    }
    let roomy = Bench::with(Settings {
        memory_limit_bytes: 512 << 20,
        ..Settings::default()
    });
    let forty = twice(&roomy, &caught("tools.echo({x})").replace("SIZE", "40 << 20")).await;
    assert_eq!(forty["value"][0], "RangeError", "{forty:#}");
    assert_eq!(bench.value("return 1").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn l11_every_limit_has_its_own_end_and_other_runs_are_untouched() {
    let mut bench = Bench::new();
    let neighbour = bench
        .exec("let kept = [1]; await yield_control(); return kept")
        .await;
    let memory = "memory limit exceeded (67108864 bytes)";
    let timeout = "code mode timeout exceeded: the program was still running after 400 ms. Do less in one cell, or let \
                   it wait for tools instead of looping.";
    let ends = [
        ("while(true){}", failed("timeout", timeout)),
        (
            "a=[];for(;;)a.push(new Uint8Array(4e6).fill(1))",
            failed("internal_error", memory),
        ),
        (
            "for (const a = [];;) try { a.push(new Uint8Array(4e6).fill(1)) } catch { }",
            failed("internal_error", memory),
        ),
        (
            "function f(n){ return n + f(n + 1) } try { f(0) } catch (e) { return e.name }",
            completed("RangeError"),
        ),
        (
            "const f = () => [1].map(f); try { f() } catch (e) { return e.name }",
            completed("RangeError"),
        ),
    ];
    for (code, expected) in ends {
        bench.context.settings = match expected["code"].as_str() {
            Some("timeout") => within(400),
            _ => Settings::default(),
        };
        assert_eq!(twice(&bench, code).await, expected, "{code}");
    }
    assert_eq!(bench.wait(&neighbour["runId"]).await["value"], json!([1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn l12_a_loop_in_one_session_holds_up_no_run_of_another() {
    let loops = Bench::with(within(60_000));
    let mut neighbour = Bench::new();
    neighbour.context.caller = Caller::new("agent", "another", "run");
    let parked = neighbour
        .exec("await yield_control(); return await tools.echo({x: 'resumed'})")
        .await;
    let spinning: Vec<_> = (0..4)
        .map(|_| {
            let (codecell, context) = (loops.codecell.clone(), loops.context.clone());
            tokio::spawn(async move { codecell.exec(&json!({ "code": "while(true){}" }), context).await })
        })
        .collect();
    assert_eq!(neighbour.value("return 'through'").await, "through");
    assert_eq!(neighbour.wait(&parked["runId"]).await["value"], "resumed");
    assert!(
        spinning.iter().all(|task| !task.is_finished()),
        "the neighbour waited for a loop"
    );
    loops.context.cancel.cancel();
    for task in spinning {
        let result: Value = serde_json::to_value(task.await.unwrap()).unwrap();
        assert_eq!(result["code"], "aborted", "{result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l13_json_of_any_depth_is_parsed_or_refused() {
    let bench = Bench::new();
    for depth in [3_000, 100_000] {
        for (open, leaf) in [("[", ""), ("{\"a\":", "")] {
            let code = format!(
                "try {{ JSON.parse('{open}'.repeat({depth}) + '{leaf}'); return 'parsed' }} catch (e) {{
                   return e instanceof SyntaxError || e instanceof RangeError }}"
            );
            assert_eq!(twice(&bench, &code).await, completed(true), "{code}");
        }
        let closed = format!(
            "let value; try {{ value = JSON.parse('['.repeat({depth}) + ']'.repeat({depth})) }} catch (e) {{ return e instanceof Error }}
             return Array.isArray(value)"
        );
        assert_eq!(twice(&bench, &closed).await, completed(true));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l14_recursion_is_caught_and_the_vm_goes_on() {
    let bench = Bench::new();
    all_twice(
        &bench,
        [
            "function f(){return f()} try{f()}catch{}\n//park\nreturn 1",
            "function f(){f(); return 1} for (let n = 0; n < 20; n++) try{f()}catch{}\n//park\nreturn await tools.echo({x: 1})",
            "class A { get x() { return this.x } } try { new A().x } catch {}\n//park\nreturn 1",
            "const a = []; a[0] = a; try { a.flat(Infinity) } catch {}\n//park\nreturn 1",
            "try { eval('('.repeat(5000) + 1 + ')'.repeat(5000)) } catch {}\n//park\nreturn 1",
            "try { new Function('return ' + '['.repeat(5000)) } catch {}\n//park\nreturn 1",
            "try { new RegExp('('.repeat(20000) + ')'.repeat(20000)) } catch {}\n//park\nreturn 1",
        ]
        .map(|code| (code, completed(1))),
    )
    .await;
    let terms = format!("const a = 1;\n//park\nreturn {}", vec!["a"; 5_000].join("+"));
    assert_eq!(twice(&bench, &terms).await, completed(5_000));
    let nested = format!("return {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let result = bench.exec(&nested).await;
    assert_eq!(result["code"], "invalid_input", "{result:#}");
    assert_eq!(bench.value("return 1").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn l17_more_calls_than_run_at_once_wait_and_beyond_the_queue_each_is_refused() {
    let (bench, source) = named(vec![core("echo")], Vec::new());
    let parallel = |n: usize| {
        format!(
            "const all = Promise.allSettled(Array.from({{length: {n}}}, () => tools.echo()));\n//park\n
             const ended = await all;
             const refused = ended.filter(one => one.status === 'rejected').map(one => one.reason);
             return [ended.length - refused.length, refused.length, refused.every(e => e instanceof Error && /1024/.test(e.message))]"
        )
    };
    assert_eq!(
        twice(&bench, &parallel(40)).await,
        completed(json!([40, 0, true]))
    );
    assert_eq!(source.calls().len(), 80);
    assert_eq!(
        twice(&bench, &parallel(1_040)).await,
        completed(json!([1_040, 0, true]))
    );
    let result = bare(bench.exec(&parallel(1_100).replace("//park\n", "")).await);
    assert_eq!(result, completed(json!([1_040, 60, true])));
    assert_eq!(
        source.calls().len(),
        80 + 2 * 1_040 + 1_040,
        "a refused call reaches nobody"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn l18_nothing_that_grows_with_the_catalog_is_put_into_a_vm() {
    let of = |count: usize| {
        let tools = (0..count)
            .map(|n| tool(Owner::Core, &format!("tool_{n}")))
            .collect();
        let (mut bench, _) = named(tools, Vec::new());
        // Hardly more than an untouched VM needs.
        bench.context.settings.max_snapshot_bytes = 64 << 10;
        bench
    };
    let few = of(10);
    let many = of(5_000);
    let code = "const first = await tools.tool_7(); await yield_control(); return first";
    for bench in [&few, &many] {
        let (result, waits) = to_the_end(bench, json!({ "code": code })).await;
        assert_eq!((result, waits), (completed("openclaw:core:tool_7"), 1));
    }
    let all = "const all = ALL_TOOLS.length; await yield_control(); return all";
    let full = many.exec(all).await;
    assert_eq!(
        full["code"], "snapshot_limit_exceeded",
        "the limit is a tight one: {full:#}"
    );
    for _ in 0..100 {
        assert_eq!(many.value("return 1").await, 1);
    }
}
