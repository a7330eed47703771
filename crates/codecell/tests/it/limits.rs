//! Limits end a cell, each with its own code, and nothing else.

use std::time::Duration;

use codecell::Settings;
use serde_json::json;

use crate::tools::Bench;

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_do_not_end_end_as_timeouts() {
    let bench = Bench::with(Settings {
        timeout: Duration::from_millis(300),
        ..Settings::default()
    });
    let programs = [
        "while (true) {}",
        "try { while (true) {} } catch (e) {} finally { return 'escaped' }",
        "for (;;) await null",
        "const p = tools.slow({ ms: 50, v: 1 }); (async () => { for (;;) await null })(); return await p",
        "/^(a+)+$/.test('a'.repeat(60) + 'b'); return 1",
        "let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); for (;;) o.missing",
        "(function spin() { Promise.resolve().then(spin) })(); return await new Promise(() => {})",
    ];
    for code in programs {
        let result = bench.exec(code).await;
        assert_eq!(
            (&result["status"], &result["code"]),
            (&json!("failed"), &json!("timeout")),
            "{code}\n{result:#}"
        );
    }
    assert_eq!(bench.value("return 'still here'").await, json!("still here"));
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_that_runs_out_ends_the_vm_also_when_the_guest_catches_it() {
    let bench = Bench::with(Settings {
        memory_limit_bytes: 16 << 20,
        ..Settings::default()
    });
    let programs = [
        "let a=[];for(;;)a.push(new Array(1e5).fill(1))",
        "let a = []; for (;;) { try { a.push(new Uint8Array(1e6)) } catch {} }",
    ];
    for code in programs {
        let result = bench.exec(code).await;
        let expected = json!([
            "failed",
            "internal_error",
            "memory limit exceeded (16777216 bytes)"
        ]);
        assert_eq!(
            json!([result["status"], result["code"], result["error"]]),
            expected,
            "{code}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_recursion_and_deep_nesting_are_range_errors_or_refusals_never_traps() {
    let bench = Bench::new();
    let programs = [
        "function f(){return f()} try{f()}catch(e){return e.name}",
        "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); try { p.x } catch (e) { return e.name }",
        "const f = () => 'a'.replace(/a/, f); try { f() } catch (e) { return e.name }",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; try { json(a) } catch (e) { return e.name }",
    ];
    for code in programs {
        assert_eq!(bench.value(code).await, json!("RangeError"), "{code}");
    }
    let parse =
        "try { JSON.parse('['.repeat(1e5)); return 'parsed' } catch (e) { return e instanceof Error }";
    assert_eq!(bench.value(parse).await, json!(true));
    let nested = format!("return {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let result = bench.exec(&nested).await;
    let told =
        result["value"] == 1 || result["code"] == "invalid_input" || result["code"] == "internal_error";
    assert!(told, "{result:#}");
    let sum = format!("return {}", vec!["1"; 5_000].join("+"));
    assert_eq!(bench.value(&sum).await, json!(5_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn output_past_its_limit_fails_and_keeps_the_head() {
    let bench = Bench::with(Settings {
        max_output_bytes: 2048,
        ..Settings::default()
    });
    for code in [
        "text('first'); for (;;) text('x'.repeat(100))",
        "text('first'); return 'x'.repeat(4 << 20)",
    ] {
        let result = bench.exec(code).await;
        assert_eq!(result["code"], "output_limit_exceeded", "{code}");
        let output = result["output"].as_array().unwrap();
        assert_eq!(output.first(), Some(&json!({ "type": "text", "text": "first" })));
        let last = output.last().unwrap()["text"].as_str().unwrap();
        assert!(last.contains("bytes left out"), "{last}");
        let budgeted = result["output"].to_string().len() + result["error"].to_string().len();
        assert!(budgeted <= 2048, "{budgeted}");
    }
    assert_eq!(bench.value("return 'x'.repeat(2000).length").await, json!(2000));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_of_quick_calls_ends() {
    let bench = Bench::with(Settings {
        timeout: Duration::from_secs(60),
        ..Settings::default()
    });
    let result = bench.exec("for (;;) await tools.echo({x: 1})").await;
    assert_eq!(result["status"], "failed", "{result:#}");
    assert!(
        result["error"].as_str().unwrap().contains("10000 tool calls"),
        "{result:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_loops_do_not_hold_up_a_neighbour() {
    let loops = Bench::with(Settings {
        timeout: Duration::from_secs(60),
        ..Settings::default()
    });
    let neighbour = Bench::new();
    let spinning: Vec<_> = (0..8)
        .map(|_| {
            let (codecell, context) = (loops.codecell.clone(), loops.context.clone());
            tokio::spawn(async move {
                codecell
                    .exec(&json!({ "code": "while (true) {}" }), context)
                    .await
            })
        })
        .collect();
    assert_eq!(neighbour.value("return 'through'").await, json!("through"));
    assert!(
        spinning.iter().all(|task| !task.is_finished()),
        "the neighbour waited for a loop to end"
    );
    loops.context.cancel.cancel();
    for task in spinning {
        let result = serde_json::to_value(task.await.unwrap()).unwrap();
        assert_eq!(result["code"], "aborted", "{result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deeply_nested_results_cross_or_fail_typed() {
    let bench = Bench::new();
    let depth = "let n = 0; for (let a = await tools.deep({levels: 100}); a.length; a = a[0]) n++; return n";
    assert_eq!(bench.value(depth).await, json!(99));
    let deeper = bench
        .exec("return typeof await tools.deep({levels: 20000})")
        .await;
    assert!(
        deeper["status"] == "completed" || deeper["code"] == "internal_error",
        "{deeper:#}"
    );
    assert_eq!(bench.value("return 'still here'").await, json!("still here"));
}
