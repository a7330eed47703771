//! Errors a program can handle and a model can read.

use codecell::{Codecell, EngineError, EngineOptions, Languages, Owner, Settings};
use serde_json::{Value, json};

use crate::play::{all_twice, completed, doors, everywhere, failed, twice, twice_in};
use crate::source::{named, shaped};
use crate::tools::{Bench, bare};

#[tokio::test(flavor = "multi_thread")]
async fn e1_whatever_goes_wrong_in_a_call_can_be_caught() {
    let bench = everywhere();
    let mut calls: Vec<String> = [
        "{kind: 'throw'}",
        "{kind: 'isError'}",
        "{kind: 1}",
        "{}",
        "[]",
        "7",
    ]
    .iter()
    .flat_map(|argument| doors("fail").map(|id| format!("tools.callValue('{id}', {argument})")))
    .collect();
    calls.extend(
        [
            "MCP.fixtureServer.fail({kind: 'throw'})",
            "MCP.fixtureServer.fail(1)",
            "MCP.fixtureServer.$api(7)",
            "tools.callValue('nothing:of:this')",
            "tools.callValue()",
            "tools.describe('nothing')",
            "tools.search()",
            "tools.search('x', {limit: 0})",
            "API.read('mcp/../etc/passwd')",
            "API.read('mcp/nothing.d.ts')",
        ]
        .map(str::to_owned),
    );
    for call in calls {
        let code = format!(
            "try {{ await {call}; return 'not thrown' }} catch (e) {{
               return [e instanceof Error, typeof e.name, typeof e.message, e.message.length > 0] }}"
        );
        let expected = completed(json!([true, "string", "string", true]));
        assert_eq!(twice(&bench, &code).await, expected, "{call}");
    }
    let other_ways = [
        "return await tools.callValue('client:app:fail', {kind: 'throw'}).catch(e => e.name)",
        "return (await Promise.allSettled([tools.callValue('client:app:fail', {kind: 'throw'})]))[0].reason.name",
        "return await tools.callValue('client:app:fail', {kind: 'throw'}).then(() => 0, e => e.name)",
    ];
    all_twice(&bench, other_ways.map(|code| (code, completed("Error")))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e2_an_uncaught_error_keeps_name_message_and_place() {
    let bench = Bench::new();
    let cases = [
        (
            "//park\n  throw new RangeError(\"too far\")",
            "RangeError: too far\n    at cell:2:",
        ),
        (
            "class Lost extends Error { name = 'Lost' }\n//park\n\nthrow new Lost('again')",
            "Lost: again\n    at Lost (cell:1:1)\n    at cell:4:",
        ),
        (
            "//park\nfunction inner() { throw new TypeError('x') }\nfunction outer() { inner() }\nouter()",
            "TypeError: x\n    at inner (cell:2:",
        ),
        ("//park\n\nnull.x", "TypeError: "),
        ("//park\nthrow new Error()", "Error\n    at cell:2:"),
        (
            "//park\nthrow new AggregateError([new Error('one')], 'several')",
            "AggregateError: several\n    at cell:2:",
        ),
        ("throw 'only text'", "Error: only text"),
        ("throw { code: 7 }", "Error: {\"code\":7}"),
        ("throw undefined", "Error: undefined"),
        ("throw null", "Error: null"),
        (
            "//park\n\nawait tools.fail({kind: 'throw'})",
            "Error: the tool threw\n    at cell:3:",
        ),
        (
            "//park\nconst p = tools.fail({kind: 'throw'});\nawait tools.echo({x: 1});\nawait p",
            "Error: the tool threw\n    at cell:2:",
        ),
    ];
    for (code, starts) in cases {
        let result = twice(&bench, code).await;
        let error = result["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with(starts), "{code}\n{error}");
        assert_eq!(result, failed("internal_error", error), "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn e3_time_that_is_up_is_a_timeout_and_nothing_internal() {
    let bench = Bench::with(Settings {
        timeout: std::time::Duration::from_millis(200),
        ..Settings::default()
    });
    let error = "code mode timeout exceeded: the program was still running after 200 ms. Do less in one cell, or let \
                 it wait for tools instead of looping.";
    for code in [
        "while (true) {}",
        "for (;;) { try { throw 1 } catch {} }",
        "[2, 1].sort(() => { for (;;); })",
    ] {
        assert_eq!(twice(&bench, code).await, failed("timeout", error), "{code}");
    }
}

#[test]
fn e3_an_engine_that_cannot_be_made_says_why_and_nothing_runs_in_its_place() {
    let too_many = EngineOptions {
        max_instances: u32::MAX,
        ..EngineOptions::default()
    };
    let Err(error) = Codecell::new(too_many) else {
        panic!("four thousand million VMs do not fit into any process")
    };
    assert!(matches!(error, EngineError::Wasm(_)), "{error:?}");
    assert!(
        error
            .to_string()
            .starts_with("the guest engine could not be made: "),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn e4_every_problem_of_an_argument_is_a_line_and_the_signature_follows() {
    let issue = json!({
        "type": "object", "additionalProperties": false, "required": ["title"],
        "properties": {
            "title": { "type": "string" },
            "labels": { "type": "array", "items": { "type": "string" } },
            "state": { "enum": ["open", "closed"] },
        },
    });
    let (bench, source) = named(vec![shaped(Owner::Core, "file", issue)], Vec::new());
    let signature = "{ title: string; labels?: Array<string>; state?: \"open\" | \"closed\" }";
    let cases = [
        ("{title: 5}", "title: expected string, got number (5)"),
        ("{}", "title: expected string, got nothing"),
        (
            "{title: 't', labels: ['a', 7], state: 'shut'}",
            "labels[1]: expected string, got number (7)\nstate: expected \"open\" | \"closed\", got string (\"shut\")",
        ),
        (
            "{title: 't', body: 1}",
            "body: expected no such property, got number (1)",
        ),
    ];
    for (argument, problems) in cases {
        let code = format!("try {{ await tools.file({argument}) }} catch (e) {{ return e.message }}");
        let message =
            format!("invalid arguments for `openclaw:core:file`:\n{problems}\nexpected input: {signature}");
        assert_eq!(twice(&bench, &code).await, completed(message), "{argument}");
    }
    assert_eq!(source.calls(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn e6_what_a_server_said_with_its_error_is_reachable() {
    let bench = everywhere();
    let said = json!(["upstream_error", "the tool threw", { "status": 422, "body": "no such user" }]);
    let [core, plugin, client] =
        doors("fail").map(|id| format!("tools.callValue('{id}', {{kind: 'throw'}})"));
    let raw = "tools.call('client:app:fail', {kind: 'throw'})".to_owned();
    let mcp = "MCP.fixtureServer.fail({kind: 'throw'})".to_owned();
    for call in [core, plugin, client, raw, mcp] {
        let code = format!("try {{ await {call} }} catch (e) {{ return [e.code, e.message, e.details] }}");
        assert_eq!(twice(&bench, &code).await, completed(said.clone()), "{call}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn e8_a_syntax_error_is_found_before_any_call() {
    let bench = Bench::new();
    let bump = "await tools.callValue('openclaw:core:bump', {key: 'a'});";
    let cases = [
        ("javascript", format!("{bump} retur 1"), 1),
        ("javascript", format!("{bump}\n\n  let x = ;"), 3),
        ("javascript", format!("{bump}\nreturn 'no end"), 2),
        ("javascript", format!("{bump}\nconst a = 1; const a = 2"), 2),
        ("typescript", format!("{bump}\nconst x: = 1"), 2),
        (
            "typescript",
            format!("interface A {{ a: string }}\n{bump}\nretur 1"),
            3,
        ),
    ];
    for (language, code, line) in cases {
        let result = bench
            .exec_with(json!({ "code": code, "language": language }))
            .await;
        assert_eq!(result["code"], "invalid_input", "{code}\n{result:#}");
        let error = result["error"].as_str().unwrap();
        assert!(error.contains(&format!("cell:{line}:")), "{code}\n{error}");
        assert_eq!(result["telemetry"]["callCount"], 0);
    }
    assert_eq!(bench.counters.get("a"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn e9_typescript_runs_where_it_is_offered_and_is_named_where_it_is_not() {
    let bench = Bench::new();
    let typed = "const x: number = 1; return x";
    assert_eq!(twice_in(&bench, "typescript", typed).await, completed(1));

    let sent_as_javascript = bench.exec(typed).await;
    assert_eq!(sent_as_javascript["code"], "invalid_input");
    let error = sent_as_javascript["error"].as_str().unwrap();
    assert!(
        error.contains("language") && error.contains("typescript"),
        "{error}"
    );

    let without = Bench::with(Settings {
        languages: Languages::JavaScriptOnly,
        ..Settings::default()
    });
    let refused = without
        .exec_with(json!({ "code": typed, "language": "typescript" }))
        .await;
    let expected = failed(
        "invalid_input",
        "code mode typescript input is disabled. Write the program in javascript.",
    );
    assert_eq!(bare(refused), expected);
    let offered = |bench: &Bench| bench.context.surface.exec_descriptor(&bench.context.settings);
    let languages = |bench: &Bench| -> Value {
        serde_json::to_value(offered(bench)).unwrap()["inputSchema"]["properties"]["language"]["enum"].clone()
    };
    assert_eq!(languages(&bench), json!(["javascript", "typescript"]));
    assert_eq!(languages(&without), json!(["javascript"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn e11_places_are_those_of_the_submitted_text_also_where_types_were_removed() {
    let bench = Bench::new();
    let cases = [
        (
            "interface A { a: string }\n//park\nthrow new Error('here')",
            "Error: here\n    at cell:3:",
        ),
        (
            "type B = {\n  a: string,\n  b: number\n}\n//park\nconst f = (b: B | null): never => { throw new Error('here') }; f(null)",
            "Error: here\n    at f (cell:6:",
        ),
        (
            "enum Level {\n  Low,\n  High\n}\n//park\nconst level: Level = Level.High;\nif (level) throw new Error('here')",
            "Error: here\n    at cell:7:",
        ),
        (
            "//park\nconst rows = (await tools.echo({ x: [1] })) as number[];\n(rows as unknown as { missing: { x: 1 } }).missing.x",
            "TypeError: cannot read property 'x' of undefined\n    at cell:3:",
        ),
    ];
    for (code, starts) in cases {
        let result = twice_in(&bench, "typescript", code).await;
        let error = result["error"].as_str().unwrap();
        assert!(error.starts_with(starts), "{code}\n{error}");
    }
}
