//! Arguments as they were meant, as they were sent, and as they arrive.

use codecell::{Owner, ToolSpec};
use serde_json::{Value, json};

use crate::play::{completed, twice};
use crate::source::{core, mcp, named, ready, shaped};

/// A tool with this parameter, once for each kind of owner.
fn with(parameter: &Value) -> Vec<ToolSpec> {
    let schema = json!({ "type": "object", "properties": { "it": parameter }, "required": ["it"] });
    [
        Owner::Core,
        Owner::ExternalPlugin("plug".into()),
        Owner::Client("app".into()),
    ]
    .map(|owner| shaped(owner, "take", schema.clone()))
    .to_vec()
}

/// The one problem of an argument, as every kind of tool tells it, and that none was called.
async fn refused(parameter: Value, argument: &str, problem: &str) {
    let (bench, source) = named(with(&parameter), Vec::new());
    let code = format!(
        "return await Promise.all(ALL_TOOLS.map(tool => tools.callValue(tool.id, {{it: {argument}}}).then(() => 'called',
           e => [e.name, e.code, e.message.split('\\n')[1]])))"
    );
    let told = json!(["TypeError", "invalid_input", problem]);
    assert_eq!(
        twice(&bench, &code).await,
        completed(json!([told, told, told])),
        "{argument}"
    );
    assert_eq!(source.calls(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn c2_an_array_that_was_encoded_twice_is_refused_with_advice() {
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    let advice = "; pass the value itself, not JSON text of it";
    for (argument, shown) in [("'[\"a\"]'", r#""[\"a\"]""#), ("'[]'", r#""[]""#)] {
        let problem = format!("it: expected array, got string ({shown}){advice}");
        refused(strings.clone(), argument, &problem).await;
    }
    let problem = format!(r#"it: expected object, got string ("{{\"a\":1}}"){advice}"#);
    refused(json!({ "type": "object" }), "'{\"a\":1}'", &problem).await;
    refused(strings, "'a'", r#"it: expected array, got string ("a")"#).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c3_text_of_a_number_is_refused_with_its_path() {
    let advice = "; pass the value itself, not JSON text of it";
    let integer = json!({ "type": "integer" });
    refused(
        integer.clone(),
        "'5'",
        &format!("it: expected integer, got string (\"5\"){advice}"),
    )
    .await;
    refused(
        integer.clone(),
        "'five'",
        "it: expected integer, got string (\"five\")",
    )
    .await;
    refused(integer, "5.5", "it: expected integer, got number (5.5)").await;
    refused(
        json!({ "type": "boolean" }),
        "'true'",
        &format!("it: expected boolean, got string (\"true\"){advice}"),
    )
    .await;
    refused(
        json!({ "type": "string" }),
        "5",
        "it: expected string, got number (5)",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_a_near_miss_names_what_was_meant_and_corrects_nothing() {
    let closed = json!({ "type": "object", "properties": { "title": {} }, "additionalProperties": false });
    let (bench, source) = named(
        vec![shaped(Owner::Core, "create_issue", closed), core("unlike")],
        Vec::new(),
    );
    let meant = "did you mean `openclaw:core:create_issue`?";
    let cases = [
        ("tools.callValue('createIssue', {})", format!("unknown tool id `createIssue`; {meant}")),
        ("tools.callValue('openclaw:core:createIssue', {})", format!("unknown tool id `openclaw:core:createIssue`; {meant}")),
        ("tools.callValue('Create_Issue', {})", format!("unknown tool id `Create_Issue`; {meant}")),
        ("tools.describe('creat_issue')", format!("unknown tool id `creat_issue`; {meant}")),
        (
            "tools.create_issue({tittle: 'x'})",
            "invalid arguments for `openclaw:core:create_issue`:\ntittle: expected no such property, got string (\"x\"); \
             did you mean `title`?\nexpected input: { title?: unknown }".to_owned(),
        ),
    ];
    for (call, message) in cases {
        let code = format!("try {{ return await {call} }} catch (e) {{ return e.message }}");
        assert_eq!(twice(&bench, &code).await, completed(message), "{call}");
    }
    assert_eq!(source.calls(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn c6_a_name_that_looks_like_a_command_is_only_a_name() {
    for name in [
        "x; touch y",
        "$(touch y)",
        "`touch y`",
        "x\ntouch y",
        "'; DROP",
        "../../x",
        "\u{202e}x",
        "x\" y",
    ] {
        let (bench, source) = named(vec![core(name)], Vec::new());
        let id = codecell::ToolId::new(&Owner::Core, name).to_string();
        let code = "const [tool] = ALL_TOOLS; return [tool.name, await tools.callValue(tool.id, {}), (await tools.describe(tool.id)).name]";
        assert_eq!(twice(&bench, code).await, completed(json!([name, id, name])));
        assert_eq!(source.calls(), [format!("{id} {{}}"), format!("{id} {{}}")]);
        let told = bench
            .context
            .surface
            .exec_descriptor(&bench.context.settings)
            .description;
        assert!(
            !told.contains("\ntouch y"),
            "no line of the description is the tool's: {told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c7_a_default_is_left_to_the_server() {
    let schema = json!({ "type": "object", "properties": {
        "size": { "type": "integer", "default": 10 },
        "deep": { "type": "object", "properties": { "on": { "default": true } } },
    } });
    let (bench, source) = named(vec![shaped(Owner::Core, "list", schema)], Vec::new());
    for (argument, arrives) in [
        ("", "{}"),
        ("null", "{}"),
        ("{}", "{}"),
        ("{deep: {}}", r#"{"deep":{}}"#),
        ("{size: undefined}", "{}"),
        ("{size: 3}", r#"{"size":3}"#),
    ] {
        let before = source.calls().len();
        twice(&bench, &format!("return await tools.list({argument})")).await;
        let arrived = format!("openclaw:core:list {arrives}");
        assert_eq!(source.calls()[before..], [arrived.clone(), arrived], "{argument}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_a_member_that_is_not_there_names_what_was_meant() {
    let (bench, source) = named(
        vec![core("create_issue"), mcp("jira", "create_issue")],
        ready(&["jira"]),
    );
    for (call, meant) in [
        ("tools.createIssue({})", "openclaw:core:create_issue"),
        ("tools.create_isue({})", "openclaw:core:create_issue"),
        ("MCP.jira.createIsue({})", "MCP.jira.createIssue"),
        ("MCP.jira.create_issue({})", "MCP.jira.createIssue"),
        ("MCP.jria.createIssue({})", "servers: jira"),
    ] {
        let result = twice(&bench, &format!("//park\nreturn await {call}")).await;
        assert_eq!(result["code"], "internal_error", "{call}");
        let error = result["error"].as_str().unwrap();
        assert!(error.contains(meant), "{call}: {error}");
    }
    assert_eq!(source.calls(), Vec::<String>::new());
}
