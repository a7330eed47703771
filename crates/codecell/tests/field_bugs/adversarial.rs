//! Programs that must leave everything around them healthy.

use std::time::Duration;

use codecell::Settings;
use serde_json::{Value, json};

use crate::play::{completed, failed, twice};
use crate::tools::Bench;

fn short() -> Bench {
    Bench::with(Settings {
        timeout: Duration::from_millis(400),
        ..Settings::default()
    })
}

fn timeout() -> Value {
    failed(
        "timeout",
        "code mode timeout exceeded: the program was still running after 400 ms. Do less in one cell, or let it wait \
         for tools instead of looping.",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn x1_many_forgotten_calls_are_accounted_for_before_the_result() {
    let bench = Bench::new();
    let forms = [
        "for (let i = 0; i < 10; i++) tools.callValue('bump', { key: 'k' + i });\n//park\nreturn 'done'",
        "for (let i = 0; i < 10; i++) tools.callValue('bump', { key: 'k' + i }).then(() => {});\n//park\nreturn 'done'",
        "for (let i = 0; i < 10; i++) (async () => { await null; await tools.bump({ key: 'k' + i }) })();\n//park\nreturn 'done'",
        "tools.echo({x: 1}).then(() => { for (let i = 0; i < 10; i++) MCP.fixtureServer.bump({ key: 'k' + i }) });\n//park\nreturn 'done'",
    ];
    let counted = || (0..10).map(|n| bench.counters.get(&format!("k{n}"))).sum::<u32>();
    for (round, code) in (1u32..).zip(forms) {
        assert_eq!(twice(&bench, code).await, completed("done"), "{code}");
        // Twice played, ten calls each, and none comes later.
        assert_eq!(counted(), round * 20, "{code}");
        assert_eq!(bench.value("return 'healthy'").await, "healthy");
    }
    assert_eq!(counted(), 80);
}

#[tokio::test(flavor = "multi_thread")]
async fn x2_no_catch_hides_a_limit() {
    let bench = short();
    for code in [
        "try { while (true) {} } catch (e) {} finally { return \"escaped\"; }",
        "for (;;) { try { while (true) {} } catch (e) { } }",
        "try { await (async () => { while (true) {} })() } catch { return 'escaped' }",
        "await Promise.race([(async () => { await null; while (true) {} })(), tools.never()]).catch(() => 0); return 'escaped'",
        "function* g() { try { while (true) {} } finally { yield 'escaped' } } return [...g()]",
        "setTimeout(() => { while (true) {} }, 1); try { await tools.never() } finally { return 'escaped' }",
    ] {
        assert_eq!(twice(&bench, code).await, timeout(), "{code}");
        assert_eq!(bench.value("return 'healthy'").await, "healthy");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x4_a_flood_of_microtasks_beside_a_call_ends_in_time() {
    let bench = short();
    for flood in [
        "(async () => { for (;;) await null; })();",
        "(function spin() { queueMicrotask(spin) })();",
        "(function spin() { Promise.reject(1).catch(spin) })();",
        "(async () => { for await (const _ of (async function* () { for (;;) yield 1 })()) ; })();",
    ] {
        let code = format!(
            "const p = tools.callValue('slow', {{ ms: 50, v: 1 }});\n//park\n{flood}\nreturn await p;"
        );
        assert_eq!(twice(&bench, &code).await, timeout(), "{code}");
        assert_eq!(bench.value("return 'healthy'").await, json!("healthy"));
    }
}
