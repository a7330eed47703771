//! Failures that looked like success.

use codecell::ServerInfo;
use serde_json::{Value, json};

use crate::play::{all_twice, completed, doors, everywhere, failed, twice, warned};
use crate::source::{mcp, named};
use crate::tools::Bench;

#[tokio::test(flavor = "multi_thread")]
async fn f1_a_rejected_call_nobody_awaited_is_not_a_clean_success() {
    let bench = everywhere();
    for id in doors("fail") {
        let unawaited = |message: &str| json!([{ "kind": "unawaited_failure", "message": message, "tool": id, "line": 2 }]);
        let reported = format!("tool `{id}` reported an error: disk full");
        let invalid = format!(
            "invalid arguments for `{id}`:\nkind: expected string, got number (7)\nexpected input: {{ kind: string }}"
        );
        let cases = [
            ("{kind: 'throw'}", "the tool threw"),
            ("{kind: 'isError'}", reported.as_str()),
            ("{kind: 7}", invalid.as_str()),
        ];
        for (argument, message) in cases {
            let call = format!("tools.callValue('{id}', {argument});");
            let inside = format!("void (async () => {{ await tools.callValue('{id}', {argument}) }})();");
            let later = format!("\n{call}\n//park\nreturn 'ok'");
            for code in [format!("//park\n{call} return 'ok'"), later] {
                assert_eq!(
                    twice(&bench, &code).await,
                    warned("ok", unawaited(message)),
                    "{code}"
                );
            }
            let told = twice(&bench, &format!("{inside} return 'ok'")).await;
            assert_eq!(told["warnings"][0]["message"], message, "{told:#}");
        }
    }
    let mcp = "//park\nMCP.fixtureServer.fail({kind: 'throw'}); return 'ok'";
    let warning = json!([{ "kind": "unawaited_failure", "message": "the tool threw",
        "tool": "MCP.fixtureServer.fail", "line": 2 }]);
    assert_eq!(twice(&bench, mcp).await, warned("ok", warning));
}

#[tokio::test(flavor = "multi_thread")]
async fn f1_every_one_of_several_forgotten_failures_is_told() {
    let bench = Bench::new();
    let code =
        "//park\nfor (let n = 0; n < 3; n++) tools.fail({kind: 'throw'});\ntools.nothing?.(); return 'ok'";
    let told = |line: u32| json!({ "kind": "unawaited_failure", "message": "the tool threw", "tool": "openclaw:core:fail", "line": line });
    assert_eq!(
        twice(&bench, code).await,
        warned("ok", json!([told(2), told(2), told(2)]))
    );
    let code = "const all = [tools.fail({kind: 'throw'}), tools.fail({kind: 'throw'})];
        //park
        try { await Promise.all(all) } catch { return 'the second one is handled by Promise.all' }";
    let code = code.replace("        //park\n", "//park\n");
    assert_eq!(
        twice(&bench, &code).await,
        completed("the second one is handled by Promise.all")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn f3_a_failed_call_throws_and_what_follows_is_not_reached() {
    let bench = everywhere();
    for id in doors("fail") {
        let code =
            format!("//park\nconst r = await tools.callValue('{id}', {{kind: 'isError'}}); return typeof r");
        let result = twice(&bench, &code).await;
        let error = result["error"].as_str().unwrap();
        let (message, place) = error.split_once("\n    at ").unwrap();
        assert_eq!(
            message,
            format!("Error: tool `{id}` reported an error: disk full")
        );
        assert!(place.starts_with("cell:2:"), "{error}");
        assert_eq!(result["code"], "internal_error");
    }
    let named =
        "try { return await tools.fail({kind: 'isError'}) } catch (e) { return [e.code, e.details.isError] }";
    assert_eq!(
        twice(&Bench::new(), named).await,
        completed(json!(["tool_error", true]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn f4_the_raw_envelope_keeps_the_error_flag_and_the_value_form_throws() {
    let bench = everywhere();
    let result = json!({ "content": [{ "type": "text", "text": "disk full" }], "isError": true });
    for id in doors("fail") {
        let code = format!("//park\nreturn (await tools.call('{id}', {{kind: 'isError'}})).result");
        let warning = json!([{ "kind": "tool_error", "tool": id, "line": 2,
            "message": format!("tool `{id}` reported an error: disk full") }]);
        assert_eq!(twice(&bench, &code).await, warned(result.clone(), warning));
        let code = format!(
            "try {{ await tools.callValue('{id}', {{kind: 'isError'}}) }} catch (e) {{ return e.details }}"
        );
        assert_eq!(twice(&bench, &code).await, completed(result.clone()));
    }
    let code = "//park\nreturn await MCP.fixtureServer.fail({kind: 'isError'})";
    let warning = json!([{ "kind": "tool_error", "tool": "MCP.fixtureServer.fail", "line": 2,
        "message": "tool `mcp:Fixture Server:fail` reported an error: disk full" }]);
    assert_eq!(twice(&bench, code).await, warned(result, warning));
}

#[tokio::test(flavor = "multi_thread")]
async fn f6_a_bigint_crosses_exactly() {
    let bench = everywhere();
    let integers = [
        "10",
        "-1",
        "9007199254740993",
        "-170141183460469231731687303715884105728",
    ];
    for id in doors("echo") {
        for integer in integers {
            for argument in [format!("{integer}n"), format!("[{{ deep: {integer}n }}]")] {
                let code = format!(
                    "await yield_control(); const x = await tools.callValue('{id}', {{x: {argument}}});
                     const leaf = x.length ? x[0].deep : x; return BigInt(leaf) === {integer}n && `${{leaf}}`"
                );
                let (result, _) = crate::play::to_the_end(&bench, json!({ "code": code })).await;
                assert_eq!(result, completed(integer), "{code}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f6_an_argument_that_cannot_cross_fails_at_the_call_and_never_becomes_null() {
    let bench = Bench::new();
    let calls = [
        ("const a = {}; a.a = a", "a"),
        ("const a = []; a.push([a])", "{x: a}"),
        ("const a = new Map(); a.set('a', a)", "{x: a}"),
        ("const a = {}; a.toJSON = () => a; a.b = {a}", "{x: a}"),
        ("const a = Promise.resolve(1)", "{x: a}"),
    ];
    for (before, argument) in calls {
        for call in [
            "tools.callValue('openclaw:core:echo', ARG)",
            "tools.echo(ARG)",
            "MCP.fixtureServer.echo(ARG)",
        ] {
            let call = call.replace("ARG", argument);
            let code =
                format!("{before};\n//park\ntry {{ return await {call} }} catch (e) {{ return e.name }}");
            assert_eq!(twice(&bench, &code).await, completed("TypeError"), "{code}");
        }
    }
    assert_eq!(bench.counters.get("start echo"), 0);
    let shared = "const leaf = {n: 1}; return await tools.echo({x: [leaf, leaf]})";
    assert_eq!(
        twice(&bench, shared).await,
        completed(json!([{ "n": 1 }, { "n": 1 }])),
        "no cycle"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn f8_bytes_come_back_as_the_same_bytes() {
    let bench = everywhere();
    let made = [
        "new Uint8Array([0, 127, 128, 255])",
        "new Uint8Array([9, 0, 127, 128, 255, 9]).subarray(1, 5)",
        "new Uint8Array([0, 127, 128, 255]).buffer",
        "new DataView(new Uint8Array([9, 0, 127, 128, 255]).buffer, 1)",
    ];
    for id in doors("echo") {
        for bytes in made {
            let code = format!(
                "const bytes = {bytes};\n//park\nconst back = await tools.callValue('{id}', {{x: bytes}});
                 return [back, Array.from(atob(back.$bytes), c => c.charCodeAt(0))]"
            );
            let expected = json!([{ "$bytes": "AH+A/w==" }, [0, 127, 128, 255]]);
            assert_eq!(twice(&bench, &code).await, completed(expected), "{code}");
        }
    }
    all_twice(
        &bench,
        [
            ("return new Uint8Array()", completed(json!({ "$bytes": "" }))),
            ("return new Uint16Array([1, 65535])", completed(json!([1, 65535]))),
            ("return new Float64Array([0.5])", completed(json!([0.5]))),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f9_a_server_that_is_not_ready_says_so_wherever_it_is_asked_for() {
    let connecting = ServerInfo {
        state: "connecting".into(),
        ..ServerInfo::ready("issues")
    };
    let (bench, source) = named(
        vec![mcp("other", "find")],
        vec![connecting, ServerInfo::ready("other")],
    );
    let unavailable = json!(["unavailable", "MCP server `issues` is not available: connecting"]);
    for call in [
        "MCP.issues.createIssue({title: 'x'})",
        "tools.callValue('mcp:issues:create_issue', {})",
        "tools.call('mcp:issues:create_issue')",
        "MCP.issues.resources.list()",
    ] {
        let code = format!("try {{ return await {call} }} catch (e) {{ return [e.code, e.message] }}");
        assert_eq!(
            twice(&bench, &code).await,
            completed(unavailable.clone()),
            "{call}"
        );
    }
    let listed = "const text = await API.read('mcp/index.d.ts');
        return text.split('\\n').filter(line => /issues|other/.test(line)).map(line => /connecting/.test(line))";
    let states = twice(&bench, listed).await;
    assert_eq!(
        states["value"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|said| **said == true)
            .count(),
        1,
        "{states:#}"
    );
    assert_eq!(source.calls(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_structure_is_returned_and_what_stands_beside_it_is_reachable() {
    let bench = everywhere();
    let whole: Value = json!({
        "content": [{ "type": "text", "text": "t" }, { "type": "image", "data": "aGk=", "mimeType": "image/png" }],
        "structuredContent": { "n": 1 },
    });
    for id in doors("mixed") {
        all_twice(
            &bench,
            [
                (
                    format!("return await tools.callValue('{id}')"),
                    completed(json!({ "n": 1 })),
                ),
                (
                    format!("return (await tools.call('{id}')).result"),
                    completed(whole.clone()),
                ),
            ],
        )
        .await;
    }
    let mcp = "return await MCP.fixtureServer.mixed()";
    assert_eq!(twice(&bench, mcp).await, completed(whole));
    let unknown = twice(&bench, "return await tools.callValue('client:app:lost')").await;
    assert_eq!(
        unknown["code"],
        failed("internal_error", "")["code"],
        "{unknown:#}"
    );
}
