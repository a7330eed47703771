//! Results and their envelopes.

use codecell::{Json, Owner, ToolResult};
use serde_json::{Value, json};

use crate::play::{all_twice, completed, doors, everywhere, twice};
use crate::source::{answering, mcp, ready, tool};

#[tokio::test(flavor = "multi_thread")]
async fn m1_the_value_form_gives_the_value_and_the_raw_form_tool_and_result() {
    let bench = everywhere();
    for id in doors("echo") {
        for value in [
            json!({ "a": [1] }),
            json!("text"),
            json!([]),
            json!(null),
            json!(false),
            json!(0),
        ] {
            let argument = json!({ "x": value });
            let code = format!("return await tools.callValue('{id}', {argument})");
            assert_eq!(twice(&bench, &code).await, completed(value.clone()));
            let code = format!(
                "const raw = await tools.call('{id}', {argument}); return [Object.keys(raw), raw.tool.id, raw.result]"
            );
            let expected = json!([["tool", "result"], id, { "content": [], "details": value }]);
            assert_eq!(twice(&bench, &code).await, completed(expected));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m2_structured_details_stay_an_object() {
    let bench = everywhere();
    let code = |id: &str| {
        format!(
            "const d = await tools.callValue('{id}', {{x: {{a: {{b: [1, {{c: null}}]}}}}}}); return [typeof d, d.a.b[1].c, d]"
        )
    };
    let expected = json!(["object", null, { "a": { "b": [1, { "c": null }] } }]);
    for id in doors("echo") {
        assert_eq!(twice(&bench, &code(&id)).await, completed(expected.clone()));
    }
    let mcp = "return (await MCP.fixtureServer.echo({x: {a: {b: [1, {c: null}]}}})).structuredContent.a.b[1]";
    assert_eq!(twice(&bench, mcp).await, completed(json!({ "c": null })));
}

#[tokio::test(flavor = "multi_thread")]
async fn m5_a_result_of_an_unknown_form_arrives_whole() {
    let forms: [Value; 5] = [
        json!({ "task": { "taskId": "t-1", "status": "working", "ttl": 60000 } }),
        json!({ "resultType": "task", "taskId": "t-1" }),
        json!({ "content": [{ "type": "text", "text": "{\"only\":\"text\"}" }] }),
        json!({ "content": [{ "type": "from-the-future", "x": 1 }], "_meta": { "a": 1 } }),
        json!({}),
    ];
    for form in forms {
        let whole = form.clone();
        let tools = vec![mcp("tasks", "start"), tool(Owner::Client("app".into()), "start")];
        let (bench, _) = answering(tools, ready(&["tasks"]), move |_| {
            let result = Json::from(whole.clone());
            Box::pin(async move {
                Ok(ToolResult {
                    result,
                    value: None,
                    is_error: false,
                })
            })
        });
        all_twice(
            &bench,
            [
                ("return await MCP.tasks.start()", completed(form.clone())),
                (
                    "return await tools.callValue('client:app:start')",
                    completed(form.clone()),
                ),
                (
                    "return (await tools.call('client:app:start')).result",
                    completed(form.clone()),
                ),
            ],
        )
        .await;
    }
}
