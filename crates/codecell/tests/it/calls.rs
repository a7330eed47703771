//! Nested calls: failures, checks, forgotten promises.

use serde_json::{Value, json};

use crate::tools::{Bench, bare};

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_plain_errors_that_a_program_can_catch() {
    let bench = Bench::new();
    let cases: Vec<(&str, Value)> = vec![
        (
            "tools.callValue('fail', {kind: 'throw'})",
            json!({ "error": true, "name": "Error", "code": "upstream_error", "message": "the tool threw",
                "details": { "status": 422, "body": "no such user" } }),
        ),
        (
            "tools.callValue('fail', {kind: 'isError'})",
            json!({ "error": true, "name": "Error", "code": "tool_error",
                "message": "tool `openclaw:core:fail` reported an error: disk full",
                "details": { "content": [{ "type": "text", "text": "disk full" }], "isError": true } }),
        ),
        (
            "tools.callValue('bump', {key: 5})",
            json!({ "error": true, "name": "TypeError", "code": "invalid_input",
                "message": "invalid arguments for `openclaw:core:bump`:\n\
                            key: expected string, got number (5)\nexpected input: { key: string }" }),
        ),
        (
            "tools.callValue('openclaw:core:ecco', {})",
            json!({ "error": true, "name": "Error", "code": "invalid_input",
                "message": "unknown tool id `openclaw:core:ecco`; did you mean `openclaw:core:echo`?" }),
        ),
    ];
    for (call, expected) in cases {
        let code = format!(
            "try {{ await {call}; return 'not thrown' }} catch (e) {{ return {{ error: e instanceof Error, \
             name: e.name, code: e.code, message: e.message, details: e.details }} }}"
        );
        assert_eq!(bench.value(&code).await, expected, "{call}");
    }
    assert_eq!(
        bench.counters.get("start bump"),
        0,
        "a refused argument reaches no tool"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_named_with_its_reason() {
    let bench = Bench::new();
    for call in [
        "MCP.broken.anything({})",
        "tools.callValue('mcp:Broken:anything')",
        "MCP.broken.prompts.list()",
    ] {
        let code = format!("try {{ await {call} }} catch (e) {{ return [e.code, e.message] }}");
        let expected = json!([
            "unavailable",
            "MCP server `Broken` is not available: failed: exited with status 3"
        ]);
        assert_eq!(bench.value(&code).await, expected, "{call}");
    }
    let harmless =
        "return [await MCP.broken === MCP.broken, JSON.stringify(MCP.broken) !== undefined, `${MCP.broken}`]";
    assert_eq!(
        bench.value(harmless).await,
        json!([true, true, "[object MCP.broken]"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_argument_that_cannot_cross_fails_at_the_call_and_reaches_no_tool() {
    let bench = Bench::new();
    let cases = [
        ("const a = {}; a.a = a; await tools.echo(a)", "TypeError"),
        ("await tools.echo({x: 'x'.repeat(5e6)})", "RangeError"),
        ("await MCP.fixtureServer.echo([1])", "TypeError"),
        ("await MCP.fixtureServer.echo({}, {})", "TypeError"),
    ];
    for (call, expected) in cases {
        let code = format!("try {{ {call}; return 'not thrown' }} catch (e) {{ return e.name }}");
        assert_eq!(bench.value(&code).await, json!(expected), "{code}");
    }
    assert_eq!(bench.counters.get("start echo"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_tool_that_says_is_error_gives_its_result_and_leaves_a_warning() {
    let bench = Bench::new();
    let result = bench
        .exec("return (await MCP.fixtureServer.fail({kind: 'isError'})).isError")
        .await;
    let expected = json!({
        "status": "completed", "value": true, "output": [],
        "warnings": [{
            "kind": "tool_error", "tool": "MCP.fixtureServer.fail", "line": 1,
            "message": "tool `mcp:Fixture Server:fail` reported an error: disk full",
        }],
    });
    assert_eq!(bare(result), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn content_beside_structure_is_reachable_and_images_are_not_lost() {
    let bench = Bench::new();
    assert_eq!(bench.value("return await tools.mixed()").await, json!({ "n": 1 }));
    let code = "return (await tools.call('mixed')).result.content.map(block => block.type)";
    assert_eq!(bench.value(code).await, json!(["text", "image"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_contract_fails_a_trusted_tool_and_only_warns_of_another() {
    let bench = Bench::new();
    let trusted = bench
        .exec("return await tools.callValue('openclaw:core:lie')")
        .await;
    let error = trusted["error"].as_str().unwrap();
    assert!(
        error.contains("was called") && !error.contains("secret"),
        "{error}"
    );
    for untrusted in ["tools.callValue('client:app:lie')", "MCP.fixtureServer.lie()"] {
        let result = bench.exec(&format!("return await {untrusted}")).await;
        assert_eq!(result["status"], "completed", "{result:#}");
        assert_eq!(result["warnings"][0]["kind"], "contract", "{result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_nobody_awaited_is_told_with_tool_and_line() {
    let bench = Bench::new();
    let result = bench
        .exec("\ntools.callValue('fail', {kind: 'throw'});\nreturn 'ok'")
        .await;
    let expected = json!({
        "status": "completed", "value": "ok", "output": [],
        "warnings": [{ "kind": "unawaited_failure", "message": "the tool threw", "tool": "fail", "line": 2 }],
    });
    assert_eq!(bare(result), expected);

    let result = bench
        .exec("Promise.reject(new TypeError('mine')); return 1")
        .await;
    assert_eq!(result["warnings"][0]["kind"], "unhandled_rejection", "{result:#}");
    let late = "const p = tools.fail({kind: 'throw'}); await tools.slow({ms: 30}); try { await p } catch {} return 1";
    let handled = bench.exec(late).await;
    assert_eq!(
        (&handled["value"], handled.get("warnings")),
        (&json!(1), None),
        "{handled:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn forgotten_calls_take_effect_before_the_result_is_given() {
    let bench = Bench::new();
    let code = "for (let i = 0; i < 10; i++) tools.callValue('bump', { key: 'k' + i }); return 'done'";
    let result = bench.exec(code).await;
    assert_eq!(
        (&result["value"], &result["telemetry"]["callCount"]),
        (&json!("done"), &json!(10))
    );
    let bumped: u32 = (0..10).map(|n| bench.counters.get(&format!("k{n}"))).sum();
    assert_eq!(bumped, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_parallel_calls_all_succeed_although_sixteen_run_at_once() {
    let bench = Bench::new();
    let code = "return (await Promise.all(Array.from({length: 40}, (_, i) => tools.echo({x: i})))).length";
    assert_eq!(bench.value(code).await, json!(40));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loser_of_a_race_is_cancelled_and_told() {
    let bench = Bench::new();
    let result = bench
        .exec("return await Promise.race([tools.never(), tools.slow({ms: 10, v: 'won'})])")
        .await;
    assert_eq!(result["value"], "won");
    let warning = &result["warnings"][0];
    let expected = (&json!("cancelled"), &json!("openclaw:core:never"));
    assert_eq!((&warning["kind"], &warning["tool"]), expected, "{result:#}");
    while bench.counters.get("cancelled never") == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_syntax_error_is_found_before_any_call() {
    let bench = Bench::new();
    let result = bench
        .exec("await tools.callValue('bump', {key: 'a'});\nretur 1")
        .await;
    assert_eq!(result["code"], "invalid_input", "{result:#}");
    assert!(
        result["error"].as_str().unwrap().contains("cell:2:"),
        "{result:#}"
    );
    assert_eq!(bench.counters.get("a"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_cannot_reach_its_own_wall() {
    let bench = Bench::new();
    let hidden = "
        const names = new Set();
        for (let o = globalThis; o; o = Object.getPrototypeOf(o)) Object.getOwnPropertyNames(o).forEach(n => names.add(n));
        return [...names].filter(n => n.startsWith('__') && !/^__(proto|defineGetter|defineSetter|lookupGetter|lookupSetter)__$/.test(n))";
    assert_eq!(bench.value(hidden).await, json!([]));
    let escape = "return globalThis.constructor.constructor('return typeof process')()";
    assert_eq!(bench.value(escape).await, json!("undefined"));
}
