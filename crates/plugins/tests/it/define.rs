use std::{collections::BTreeMap, future, sync::Arc};

use codecell_catalog::Tool as CatalogTool;
use codecell_plugins::{
    Json, Origin, PluginHost, Tool, ToolCall, ToolDefinition, ToolError, ToolResult, define_tool,
};
use codecell_tools::{CallError, Progress};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::{Scripted, call_own};

/// Loads `tool` as a plugin's and calls it.
async fn call(tool: &Arc<dyn Tool>, arguments: &str) -> Result<ToolResult, CallError> {
    let host = PluginHost::new();
    let name = tool.definition().name;
    let tool = Arc::clone(tool);
    let plugin = Scripted::new("parrot", move |api| {
        api.tool(Arc::clone(&tool));
        Ok(())
    });
    host.load(plugin, Origin::External).unwrap();
    call_own(&host, &format!("openclaw:parrot:{name}"), arguments).await
}

async fn refusal(tool: &Arc<dyn Tool>, arguments: &str) -> String {
    let refused = call(tool, arguments).await;
    refused.unwrap_err().to_string()
}

fn object() -> Value {
    json!({ "type": "object" })
}

#[test]
fn a_definition_says_what_was_said() {
    let tool = define_tool("echo", "Gives back", object())
        .label("Echo")
        .output(json!({ "type": "string" }))
        .read_only()
        .replay_safe()
        .run(|_: Value| async { Ok::<_, ToolError>("said") });
    assert_eq!(
        tool.definition(),
        ToolDefinition {
            label: Some("Echo".into()),
            output_schema: Some(json!({ "type": "string" })),
            annotations: Some(json!({ "readOnlyHint": true })),
            replay_safe: true,
            ..ToolDefinition::new("echo", "Gives back", object())
        }
    );
}

#[tokio::test]
async fn a_value_is_delivered_as_it_was_written() {
    let tool = define_tool("sum", "Adds", object()).run(|numbers: BTreeMap<String, i64>| async move {
        Ok::<_, ToolError>(json!({ "sum": numbers.values().sum::<i64>() }))
    });
    let result = call(&tool, r#"{"a":1,"b":2}"#).await.unwrap();
    assert_eq!(result, ToolResult::of_value(Json::parse(r#"{"sum":3}"#).unwrap()));
}

#[tokio::test]
async fn the_code_can_know_who_calls() {
    let tool =
        define_tool("who", "Says who calls", object()).run_with_call(|_: Value, call: ToolCall| async move {
            Ok::<_, ToolError>(call.caller.agent.clone())
        });
    let result = call(&tool, "{}").await.unwrap();
    assert_eq!(result.value, Some(Json::parse(r#""main""#).unwrap()));
}

#[tokio::test]
async fn failures_are_errors_of_the_call() {
    let refusing = define_tool("refuse", "Refuses", object())
        .run(|_: Value| async { Err::<(), _>(ToolError::new("not_found", "there is no such thing")) });
    assert_eq!(refusal(&refusing, "{}").await, "there is no such thing");

    let strict =
        define_tool("sum", "Adds", object()).run(|_: BTreeMap<String, i64>| async { Ok::<_, ToolError>(0) });
    assert_eq!(
        refusal(&strict, r#"{"a":"one"}"#).await,
        "the argument does not fit the tool `sum`: invalid type: string \"one\", expected i64 at line 1 column 10"
    );

    let formless = define_tool("map", "Has no JSON form", object())
        .run(|_: Value| async { Ok::<_, ToolError>(BTreeMap::from([((1, 2), 3)])) });
    assert_eq!(
        refusal(&formless, "{}").await,
        "the tool's value has no JSON form: key must be a string"
    );
}

#[tokio::test]
async fn a_tool_with_a_contract_that_does_not_compile_loads_and_cannot_be_called() {
    let broken = define_tool("broken", "Has a broken contract", object())
        .output(json!({ "type": "no such type" }))
        .run(|_: Value| async { Ok::<_, ToolError>(0) });
    let error = call(&broken, "{}").await.unwrap_err();
    assert!(matches!(error, CallError::Contract(_)), "{error:?}");
}

#[tokio::test]
async fn code_that_waits_is_dropped_when_the_call_is_cancelled() {
    let tool = define_tool("wait", "Waits for ever", object())
        .run(|_: Value| future::pending::<Result<(), ToolError>>());
    let cancel = CancellationToken::new();
    let running = tool.call(ToolCall {
        tool: Arc::new(CatalogTool::alone(
            tool.definition().into_spec(Origin::External.owner("parrot")),
        )),
        arguments: Json::parse("{}").unwrap(),
        caller: Arc::default(),
        cancel: cancel.clone(),
        progress: Progress::default(),
        cell: None,
        number: 0,
        outside: Default::default(),
    });
    cancel.cancel();
    assert_eq!(
        running.await,
        Err(ToolError::new("cancelled", "the call was cancelled"))
    );
}
