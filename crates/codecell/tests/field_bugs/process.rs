//! The process around the cells.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use codecell::tools::{
    BeforeEvent, BeforeToolCall, CallContext, HookDecision, HookFailure, HookedCall, Hooks, Progress,
};
use codecell::{BoxFuture, Caller, Json, Settings, Surface, ToolError};
use serde_json::{Value, json};

use crate::play::{all_twice, completed, to_the_end, twice};
use crate::source::{answering, core, mcp, named, ready};
use crate::spans::{Span, Spans};
use crate::tools::{Bench, bare};

/// Programs of the kind that broke engines: callbacks that change what is being walked, resized buffers, revoked
/// proxies, re-entered generators, and numbers at the edge.
const CORPUS: &[&str] = &[
    "const a = [1,2,3,4]; a.sort(() => { a.length = 0; return 1 }); return a.length",
    "const a = Array(1e4).fill(1); a.map((x, i) => { if (i === 5) a.splice(0); return x }); return a.length",
    "const a = [1,2,3]; a.indexOf(3, { valueOf() { a.length = 0; return 0 } }); a.lastIndexOf(1, { valueOf() { a.length = 0; return -1 } }); return 1",
    "const a = [1,2,3]; a.fill(0, 0, { valueOf() { a.length = 0; return 1e9 } }); return a.length < 10",
    "const a = [1.1, 2]; a.concat({ length: 4294967295, [Symbol.isConcatSpreadable]: true }); return 1",
    "class E extends Array { static get [Symbol.species]() { return function () { return new Proxy([], {}) } } } return new E(1,2,3).map(x => x).length",
    "const b = new ArrayBuffer(8, { maxByteLength: 64 }); const v = new Uint8Array(b); b.resize(0); return [v.length, v[5]]",
    "const b = new ArrayBuffer(64, { maxByteLength: 64 }); const v = new Uint8Array(b); v.set({ length: 9, get 0() { b.resize(1); return 1 } }); return 1",
    "const b = new ArrayBuffer(64); const v = new Uint32Array(b); v.sort(() => { b.transfer?.(); return -1 }); return 1",
    "const v = new Float64Array(8); v.fill({ valueOf() { v.buffer.transfer?.(); return 1 } }); return 1",
    "const d = new DataView(new ArrayBuffer(8)); try { d.setBigUint64(2 ** 53 - 1, 1n) } catch (e) { return e.name }",
    "try { new Uint8Array(2 ** 40) } catch (e) { return e.name }",
    "try { 'x'.repeat(2 ** 31) } catch (e) { return e.name }",
    "try { 'x'.padEnd(2 ** 30 + 5, 'yz') } catch (e) { return e.name }",
    "try { new Array(-1) } catch (e) { return e.name }",
    "try { return (2n ** 100000000n).toString().length } catch (e) { return e.name }",
    "const { proxy, revoke } = Proxy.revocable([], {}); revoke(); try { return Array.isArray(proxy) } catch (e) { return e.name }",
    "const p = new Proxy({}, { ownKeys: () => ['a', 'a'] }); try { return Object.keys(p) } catch (e) { return e.name }",
    "const p = new Proxy(function () {}, { getPrototypeOf: () => p }); try { return {} instanceof p } catch (e) { return e.name }",
    "const o = {}; try { Object.setPrototypeOf(o, new Proxy(o, {})); return o.x } catch (e) { return e.name }",
    "function* g() { it.next() } const it = g(); try { it.next() } catch (e) { return e.name }",
    "const it = { [Symbol.iterator]() { return { next: () => ({ done: false }), return() { throw 1 } } } }; try { const [a] = it; return 0 } catch (e) { return e }",
    "const r = /a/g; r.lastIndex = { valueOf() { r.compile('b', 'g'); return 0 } }; return r.test('a')",
    "return 'aaaa'.replace(/(?<x>a)/g, (...m) => { m.length = 0; return '' })",
    "try { return /(?:(?=(a+))){1,1000000}b/.test('a'.repeat(30)) } catch (e) { return e.name }",
    "const w = new WeakMap(), k = {}; w.set(k, w); const f = new FinalizationRegistry(() => {}); f.register({}, 1); new WeakRef({}).deref(); return 1",
    "const m = new Map([[1, 1]]); m.forEach((v, k) => { m.delete(k); if (k < 500) m.set(k + 1, 1) }); return m.size",
    "const s = new Set([1]); for (const x of s) { s.clear(); if (x < 500) s.add(x + 1) } return s.size",
    "return JSON.stringify({ toJSON() { return { toJSON() { return 1 } } } }, (k, v) => { delete this; return v })",
    "let n = 0; const o = { get a() { delete o.b; return ++n }, b: 1, c: 2 }; return { ...o }",
    "return [].concat.apply([], Array(1e5).fill([1])).length",
    "try { return String.fromCharCode.apply(null, Array(1e6)).length } catch (e) { return e.name }",
    "try { return Math.max(...Array(1e6).fill(1)) } catch (e) { return e.name }",
    "const e = new Error('x'); Error.prepareStackTrace = () => { throw e }; Error.stackTraceLimit = Infinity; try { null.x } catch (e) { return typeof e.stack }",
    "Object.defineProperty(Object.prototype, 'then', { get() { throw 1 }, configurable: true }); try { return await (async () => ({}))() } catch (e) { return e } finally { delete Object.prototype.then }",
    "Promise.prototype.then = () => { throw 1 }; return 1",
    "globalThis.Promise = null; globalThis.Array = null; globalThis.JSON = null; return [1]",
    "for (const key of Reflect.ownKeys(globalThis)) { try { delete globalThis[key] } catch {} } return 1",
    "try { await tools.echo({ get x() { throw new RangeError('mine') } }) } catch (e) { return e.name }",
    "try { json(new Proxy({}, { ownKeys() { throw new RangeError('mine') } })) } catch (e) { return e.name }",
    "const d = new Date(8.64e15 + 1); return [d, String(new Date(NaN))]",
    "return Number.MAX_SAFE_INTEGER.toString(36).length + (1e308).toFixed(100).length",
    "label: for (;;) { try { break label } finally { try { continue } catch {} finally { break label } } } return 1",
    "with_ = new Function('o', 'with (o) { return x }'); return with_({ x: 1 })",
    "class A { static #p = 1; static has(o) { return #p in o } } return [A.has(A), A.has({})]",
    "const async = async function* () { yield* async() }; try { for await (const _ of async()) ; } catch (e) { return e.name }",
    "eval('var x = 1; function f() { return arguments.callee } f()'); return 1",
    "return atob(btoa(String.fromCharCode(...Array(256).keys()))).length",
    "return [structuredClone({ a: new Map([[1, new Set([2])]]) }).a.get(1).has(2), new TextDecoder().decode(new Uint8Array([255, 254]))]",
    "try { structuredClone(() => 1) } catch (e) { return e.name }",
];

#[tokio::test(flavor = "multi_thread")]
async fn u9_programs_that_broke_engines_end_typed_and_break_nothing() {
    let bench = Bench::with(Settings {
        timeout: Duration::from_millis(1_000),
        ..Settings::default()
    });
    for code in CORPUS {
        for park in ["", "await yield_control();"] {
            let (result, _) = to_the_end(&bench, json!({ "code": format!("{park}{code}") })).await;
            // The engine itself must never be what fails.
            let ended = result["status"] == "completed"
                || ["timeout", "internal_error", "output_limit_exceeded"]
                    .iter()
                    .any(|known| result["code"] == *known);
            assert!(ended, "{code}\n{result:#}");
            assert_eq!(
                bench.value("return [1, 'a'].map(x => [x])").await,
                json!([[1], ["a"]]),
                "after {code}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn u7_a_run_that_fails_leaves_suspended_and_later_runs_alone() {
    let mut bench = Bench::with(Settings {
        memory_limit_bytes: 16 << 20,
        ..Settings::default()
    });
    let parked = bench
        .exec("const kept = [1, 2]; await yield_control(); return kept")
        .await;
    let hostile = [
        ("for (;;) ;", "timeout"),
        (
            "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))",
            "internal_error",
        ),
        ("for (;;) text('x'.repeat(1e4))", "output_limit_exceeded"),
        ("(function f() { f() })()", "internal_error"),
        (
            "let a = []; for (let n = 0; n < 1e4; n++) a = [a]; return a",
            "internal_error",
        ),
        (
            "throw { get message() { throw 1 }, toString() { throw 2 } }",
            "internal_error",
        ),
        (
            "throw new Proxy(new Error('x'), { get() { throw 1 } })",
            "internal_error",
        ),
        (
            "const e = new Error('x'); e.message = e; e.name = e; e.stack = e; throw e",
            "internal_error",
        ),
    ];
    for (code, ends) in hostile {
        bench.context.settings.timeout = Duration::from_millis(if ends == "timeout" { 300 } else { 10_000 });
        let result = twice(&bench, code).await;
        assert_eq!(result["code"], ends, "{code}\n{result:#}");
        assert_eq!(bench.value("return 'alive'").await, "alive");
    }
    assert_eq!(bare(bench.wait(&parked["runId"]).await), completed(json!([1, 2])));
}

#[tokio::test(flavor = "multi_thread")]
async fn u8_however_the_host_rejects_a_call_the_program_sees_an_error() {
    let tools = ["empty", "scalar", "array", "long", "panics", "odd"]
        .map(core)
        .to_vec();
    let (bench, _) = answering(tools, Vec::new(), |call| {
        let name = call.name().to_owned();
        Box::pin(async move {
            let (message, details) = match name.as_str() {
                "empty" => (String::new(), None),
                "scalar" => ("scalar".into(), Some(json!(5))),
                "array" => ("array".into(), Some(json!([null, "x"]))),
                "long" => ("x".repeat(100_000), None),
                "panics" => panic!("the tool's own fault"),
                _ => (
                    "\u{0}\u{2028}\"}\n\u{1F600}".into(),
                    Some(json!({ "__proto__": { "x": 1 }, "constructor": 1 })),
                ),
            };
            Err(ToolError {
                code: "odd",
                message,
                details: details.map(Json::from),
            })
        })
    });
    let seen = |name: &str| {
        format!(
            "try {{ await tools.{name}() }} catch (e) {{ return [e instanceof Error, typeof e.name, typeof e.message,
               e.code, e.details ?? null, e.message.length < 5000, ({{}}).x === undefined] }}"
        )
    };
    let expected =
        |code: &str, details: Value| completed(json!([true, "string", "string", code, details, true, true]));
    all_twice(
        &bench,
        [
            (seen("empty"), expected("odd", json!(null))),
            (seen("scalar"), expected("odd", json!(5))),
            (seen("array"), expected("odd", json!([null, "x"]))),
            (seen("long"), expected("odd", json!(null))),
        ],
    )
    .await;
    for name in ["panics", "odd"] {
        let result = twice(&bench, &seen(name)).await;
        assert_eq!(
            (&result["value"][0], &result["value"][6]),
            (&json!(true), &json!(true)),
            "{result:#}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn u10_nothing_of_the_host_is_within_reach() {
    let bench = Bench::new();
    let programs = [
        "return this === undefined || this.constructor.constructor('return typeof process')() === 'undefined'",
        "return [globalThis, tools, tools.echo, MCP, MCP.fixtureServer, API, API.list, text, json, console.log, setTimeout, yield_control]
           .every(one => Function.prototype.constructor.call(null, 'return typeof process')() === 'undefined'
             && one.constructor?.constructor?.('return typeof process')() !== 'object')",
        "const back = await tools.echo({x: {a: [1]}}); return back.constructor === Object && back.a.constructor === Array
           && back.constructor.constructor === Function && Object.getPrototypeOf(back) === Object.prototype",
        "const error = await tools.fail({kind: 'throw'}).catch(e => e); return error.constructor === Error
           && error.constructor.constructor('return typeof require')() === 'undefined'",
        "const back = await tools.echo({x: JSON.parse('{\"__proto__\": {\"polluted\": 1}, \"constructor\": {\"prototype\": {\"polluted\": 1}}}')});
           return ({}).polluted === undefined && Object.hasOwn(back, '__proto__')",
        "return ['std', 'os', 'bjson', 'scriptArgs', 'print', 'load', 'Worker', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'gc']
           .every(name => typeof globalThis[name] === 'undefined')",
        "try { return await eval('import(\"fs\")') } catch (e) { return e instanceof Error }",
        "try { return await new Function('return import(\"os\")')() } catch (e) { return e instanceof Error }",
        "try { return await (async () => {}).constructor('return await import(\"std\")')() } catch (e) { return e instanceof Error }",
        "const AsyncFunction = (async () => {}).constructor; return await AsyncFunction('return typeof process')() === 'undefined'",
        "return typeof arguments === 'undefined' || arguments.length === 0",
        "try { return tools.echo.caller == null } catch { return true }",
        "return new Error('x').stack.split('\\n').every(line => !/\\/|\\.rs|wasm|prelude/.test(line))",
    ];
    all_twice(&bench, programs.map(|code| (code, completed(true)))).await;
    for code in [
        "import fs from 'fs'",
        "return await import('fs')",
        "return require('fs')",
        "export default 1",
    ] {
        let result = bench.exec(code).await;
        assert_eq!(result["code"], "invalid_input", "{code}\n{result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn u12_shell_text_is_refused_with_a_usable_correction_and_lookalikes_run() {
    let bench = Bench::new();
    for shell in [
        "ls -la && echo hi",
        "cat package.json | grep name",
        "git status",
        "cd src && npm test",
        "ls",
    ] {
        let result = bench.exec(shell).await;
        assert_eq!(result["code"], "invalid_input", "{shell}\n{result:#}");
        let error = result["error"].as_str().unwrap();
        assert!(
            error.contains("tools.search") || error.contains("tools.callValue"),
            "{shell}: {error}"
        );
    }
    all_twice(
        &bench,
        [
            (
                "const ls = 5, la = 2, echo = 1; return ls -la && echo",
                completed(1),
            ),
            ("let cat = 6, grep = 4; return cat | grep", completed(6)),
            (
                "const git = { status: 'clean' }; return git.status",
                completed("clean"),
            ),
            ("return 'ls -la && echo hi'", completed("ls -la && echo hi")),
            ("// ls -la\nreturn 1", completed(1)),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn u14_every_call_is_a_span_under_the_span_of_its_cell() {
    let spans = Spans::listen();
    let tools = ["one", "two", "three"]
        .map(core)
        .into_iter()
        .chain([mcp("s", "four")])
        .collect();
    let (mut bench, _) = named(tools, ready(&["s"]));
    bench.context.caller = Caller::new("agent", "spans", "run");
    let code = "await Promise.all([tools.one(), tools.two(), tools.three(), MCP.s.four()]);
        await yield_control(); await tools.one(); return 'done'";
    let (result, waits) = to_the_end(&bench, json!({ "code": code })).await;
    assert_eq!((result, waits), (completed("done"), 1));
    drop(bench);

    let cell = |tool: &str| vec![format!("tool=\"{tool}\""), "session=spans".to_owned()];
    let mut ended: Vec<Span> = Vec::new();
    // The span of the cell ends with the last who knows of it.
    while !ended.iter().any(|span| span.fields == cell("exec")) {
        tokio::task::yield_now().await;
        ended = spans.ended();
    }
    let calls: Vec<&Span> = ended
        .iter()
        .filter(|span| span.parent == Some(cell("exec")))
        .collect();
    let mut told: Vec<(&str, String)> = calls
        .iter()
        .map(|span| (span.name, span.fields.join(" ")))
        .collect();
    told.sort();
    let expected = [
        "tool=MCP.s.four number=4",
        "tool=openclaw:core:one number=1",
        "tool=openclaw:core:one number=6",
        "tool=openclaw:core:three number=3",
        "tool=openclaw:core:two number=2",
    ];
    assert_eq!(told, expected.map(|fields| ("nested_call", fields.to_owned())));
    let last_call = ended.iter().rposition(|span| span.parent == Some(cell("exec")));
    assert!(
        last_call < ended.iter().position(|span| span.fields == cell("exec")),
        "calls end before their cell"
    );
}

/// A hook that keeps what it was shown.
#[derive(Default)]
struct Seen(Mutex<Vec<HookedCall>>);

impl BeforeToolCall for Seen {
    fn before(&self, event: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
        self.0.lock().unwrap().push(event.call);
        Box::pin(async { Ok(HookDecision::pass()) })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn u15_a_hook_sees_the_same_identity_on_a_nested_call_as_on_a_direct_one() {
    let seen = Arc::<Seen>::default();
    let hooks = Hooks::new();
    hooks.before("watcher", 0, None, Arc::<Seen>::clone(&seen));
    let (mut bench, source) = named(vec![core("read")], Vec::new());
    let surface = Surface::guarded(
        bench
            .context
            .surface
            .catalog()
            .tools()
            .map(|tool| tool.spec().clone())
            .collect(),
        Vec::new(),
        bench.context.surface.path().clone().with_hooks(hooks),
    );
    bench.context.surface = Arc::new(surface);
    let caller = Caller {
        channel: Some("mcp".into()),
        sender: Some("ann".into()),
        sandboxed: true,
        ..Caller::new("main", "s1", "r1")
    };
    bench.context.caller = caller.clone();
    assert_eq!(
        twice(&bench, "return await tools.read()").await,
        completed("openclaw:core:read")
    );
    let read = bench
        .context
        .surface
        .catalog()
        .shared("openclaw:core:read")
        .unwrap();
    let direct = CallContext {
        caller: Arc::new(caller.clone()),
        cell: None,
        number: 0,
        cancel: Default::default(),
        progress: Progress::default(),
    };
    bench
        .context
        .surface
        .path()
        .call(&read, None, direct)
        .await
        .unwrap();

    let seen = seen.0.lock().unwrap().clone();
    let calls: Vec<(&str, bool)> = seen
        .iter()
        .map(|call| (call.tool.as_str(), call.cell.is_some()))
        .collect();
    assert_eq!(
        calls,
        [
            ("exec", false),
            ("read", true),
            ("exec", false),
            ("read", true),
            ("read", false)
        ],
        "the cell and its call, plain and resumed, and the direct call"
    );
    assert!(seen.iter().all(|call| *call.caller == caller), "{seen:#?}");
    assert_eq!(source.calls().len(), 3);
}
