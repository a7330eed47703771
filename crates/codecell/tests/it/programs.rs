//! Programs and what they come to.

use serde_json::{Value, json};

use crate::tools::{Bench, bare};

#[tokio::test(flavor = "multi_thread")]
async fn programs_return_what_they_return() {
    let bench = Bench::new();
    let files = [
        "mcp/index.d.ts",
        "mcp/fixtureServer.d.ts",
        "mcp/fixtureServer.schema.json",
        "mcp/broken.d.ts",
        "mcp/broken.schema.json",
    ];
    let cases: &[(&str, Value)] = &[
        ("return 1+1", json!(2)),
        ("1+1", json!(null)),
        (
            "return [typeof require, typeof process, typeof fetch]",
            json!(["undefined", "undefined", "undefined"]),
        ),
        (
            "return await Promise.race([tools.slow({ms:300,v:'a'}), tools.slow({ms:20,v:'b'})])",
            json!("b"),
        ),
        (
            "return (await tools.callValue('openclaw:core:echo', {x: [1, 'é', null]}))",
            json!([1, "é", null]),
        ),
        (
            "return await tools.callValue('openclaw:core:echo', {x: {a: 1}})",
            json!({ "a": 1 }),
        ),
        ("return await tools.echo({x: {a: 1}})", json!({ "a": 1 })),
        (
            "return (await tools.call('echo', {x: 7})).result.details",
            json!(7),
        ),
        (
            "return (await tools.call('echo', {x: 7})).tool.id",
            json!("openclaw:core:echo"),
        ),
        (
            "return (await MCP.fixtureServer.echo({x: 5})).structuredContent",
            json!(5),
        ),
        ("return Object.keys(MCP)", json!(["fixtureServer", "broken"])),
        (
            "return 'echo' in MCP.fixtureServer && typeof MCP.fixtureServer.nope",
            json!("undefined"),
        ),
        (
            "return ALL_TOOLS.filter(t => t.source === 'mcp').length",
            json!(0),
        ),
        (
            "return ALL_TOOLS.length > 7 && Object.isFrozen(ALL_TOOLS) && Object.isFrozen(ALL_TOOLS[0])",
            json!(true),
        ),
        (
            "return (await tools.search('counts on the server'))[0].id",
            json!("openclaw:core:bump"),
        ),
        ("return (await tools.search('zzzz qqqq')).length", json!(0)),
        (
            "return (await MCP.$search('counts on the server', {limit: 1}))[0].path",
            json!("MCP.fixtureServer.bump"),
        ),
        ("return (await API.list('mcp')).map(f => f.path)", json!(files)),
        (
            "return (await API.read('mcp/fixtureServer.d.ts')).includes('function echo(')",
            json!(true),
        ),
        (
            "return (await tools.describe('bump')).parameters.required",
            json!(["key"]),
        ),
        (
            "return (await MCP.fixtureServer.resources.read({uri: 'memo://one'})).params",
            json!({ "uri": "memo://one" }),
        ),
        (
            "return (await MCP.fixtureServer.prompts.list()).method",
            json!("prompts/list"),
        ),
        ("return new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("return new Map([['a', 1]])", json!([["a", 1]])),
        ("return new Set([1, 2])", json!([1, 2])),
        ("return [NaN, Infinity, undefined]", json!([null, null, null])),
        (
            "return new TypeError('bad')",
            json!({ "name": "TypeError", "message": "bad" }),
        ),
        ("return new Uint8Array([104, 105])", json!({ "$bytes": "aGk=" })),
        (
            "return await tools.echo({x: new Uint8Array([1, 2, 255])})",
            json!({ "$bytes": "AQL/" }),
        ),
        (
            "JSON.stringify = () => 'x'; Object.prototype.toJSON = () => 'y'; Array.prototype.push = null; return {a: [1]}",
            json!({ "a": [1] }),
        ),
        (
            "return await new Promise(r => setTimeout(() => r('later'), 5))",
            json!("later"),
        ),
        (
            "return new TextDecoder().decode(new TextEncoder().encode('é'))",
            json!("é"),
        ),
        ("return atob(btoa('hi'))", json!("hi")),
        (
            "return structuredClone(new Map([[1, {a: 2}]])).get(1).a",
            json!(2),
        ),
        ("return /^[0-9a-f-]{36}$/.test(crypto.randomUUID())", json!(true)),
        (
            "return await MCP === MCP && typeof String(MCP.fixtureServer) === 'string'",
            json!(true),
        ),
        (
            "const p = tools.echo({x: 1}).then(x => x + 1); return await p",
            json!(2),
        ),
    ];
    for (code, expected) in cases {
        let result = bare(bench.exec(code).await);
        let completed = json!({ "status": "completed", "value": expected, "output": [] });
        assert_eq!(result, completed, "{code}");
    }
    assert_eq!(
        bench.counters.get("start never"),
        0,
        "awaiting or printing a namespace calls nothing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_integer_is_ever_rounded() {
    let bench = Bench::new();
    for big in [
        "9007199254740993",
        "-18446744073709551617",
        "123456789012345678901234567890",
    ] {
        let cases = [
            format!("return {big}n"),
            format!("return await tools.echo({{x: {big}n}})"),
            format!(
                "const x = await tools.echo({{x: {big}n}}); if (typeof x !== 'bigint') throw x; return x"
            ),
            format!("return (await MCP.fixtureServer.echo({{x: {big}n}})).structuredContent"),
        ];
        for code in cases {
            let text = bench.exec_text(json!({ "code": code })).await;
            assert!(
                text.starts_with(&format!(r#"{{"status":"completed","value":{big},"#)),
                "{code}\n{text}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_appends_in_call_order_beside_the_value() {
    let bench = Bench::new();
    let code = "text('a'); json({b: 1}); const o = {c: 1}; json(o); o.c = 2; console.log('d', 1); text([2]); return 0";
    let expected = json!([
        { "type": "text", "text": "a" },
        { "type": "json", "value": { "b": 1 } },
        { "type": "json", "value": { "c": 1 } },
        { "type": "text", "text": "d 1" },
        { "type": "text", "text": "[2]" },
    ]);
    assert_eq!(bench.exec(code).await["output"], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn uncaught_errors_carry_name_message_and_the_submitted_position() {
    let bench = Bench::new();
    let typed = "interface A { a: string }\ntype B = A | null;\nfunction f(b: B): never { throw new TypeError('typed') }\nf(null)";
    let cases = [
        (
            "javascript",
            "\n\nthrow new RangeError('too far')",
            "RangeError: too far",
            "cell:3:",
        ),
        ("typescript", typed, "TypeError: typed", "at f (cell:3:"),
        (
            "javascript",
            "await tools.fail({kind: 'throw'})",
            "Error: the tool threw",
            "cell:1:",
        ),
        ("javascript", "throw {a: 1}", r#"{"a":1}"#, ""),
    ];
    for (language, code, starts, contains) in cases {
        let result = bench
            .exec_with(json!({ "code": code, "language": language }))
            .await;
        assert_eq!(result["code"], "internal_error", "{result:#}");
        let error = result["error"].as_str().unwrap();
        assert!(
            error.contains(starts) && error.contains(contains),
            "{code}\n{error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn typescript_runs_with_enums_generics_and_parameter_properties() {
    let bench = Bench::new();
    let code = "
        enum Level { Low = 1, High }
        class Box<T> { constructor(readonly value: T) {} map<U>(f: (t: T) => U): Box<U> { return new Box(f(this.value)) } }
        const level = await tools.echo({ x: Level.High }) as Level;
        return new Box(level).map((n) => n * 21).value satisfies number;";
    let result = bench
        .exec_with(json!({ "code": code, "language": "typescript" }))
        .await;
    assert_eq!(
        (&result["status"], &result["value"]),
        (&json!("completed"), &json!(42)),
        "{result:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn telemetry_counts_and_names_what_was_used() {
    let bench = Bench::new();
    let code = "await tools.search('echo'); await tools.describe('echo'); await tools.echo({x: 1});
        await MCP.fixtureServer.echo({x: 1}); return 0";
    let expected = json!({
        "catalogSize": 17, "sources": { "openclaw": 8, "mcp": 8, "client": 1 },
        "searchCount": 1, "describeCount": 1, "callCount": 2, "visibleTools": ["exec", "wait"],
    });
    assert_eq!(bench.exec(code).await["telemetry"], expected);
}
