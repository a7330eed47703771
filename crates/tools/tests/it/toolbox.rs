use std::sync::Arc;

use codecell_catalog::{Owner, Tool as CatalogTool, ToolId};
use codecell_tools::{
    BoxFuture, ClientTools, ExecutionPath, Json, McpRequest, Policy, Step, Tool, ToolCall, ToolDefinition,
    ToolError, ToolExecutor, ToolResult, Toolbox, ToolboxError,
};
use serde_json::json;

use crate::{context, text, tool};

/// A tool that answers with its label, so that one can tell which of several was called.
struct Named(&'static str, &'static str);

impl Tool for Named {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(self.0, "", json!({ "type": "object" }))
    }

    fn call(&self, _: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let label = text(json!(self.1));
        Box::pin(async move { Ok(ToolResult::of_value(label)) })
    }
}

struct Mcp;

impl ToolExecutor for Mcp {
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let told = text(json!(format!("mcp {}", call.name())));
        Box::pin(async move { Ok(ToolResult::of_value(told)) })
    }

    fn mcp_request(&self, request: McpRequest) -> BoxFuture<Result<Json, ToolError>> {
        let told = text(json!(request.method));
        Box::pin(async move { Ok(told) })
    }
}

fn full() -> Toolbox {
    let (client, _) = ClientTools::new(
        "app",
        vec![ToolDefinition::new("read", "", json!({ "type": "object" }))],
    );
    Toolbox::builder()
        .client(client)
        .plugin("zoo", false, Arc::new(Named("read", "external")))
        .plugin("core", true, Arc::new(Named("read", "bundled")))
        .core(Arc::new(Named("write", "core write")))
        .core(Arc::new(Named("read", "core read")))
        .mcp(Arc::new(Mcp))
        .build()
        .unwrap()
}

#[test]
fn tools_are_listed_in_the_order_of_the_catalog() {
    let ids: Vec<String> = full()
        .specs()
        .iter()
        .map(|spec| ToolId::new(&spec.owner, &spec.name).to_string())
        .collect();
    assert_eq!(
        ids,
        [
            "openclaw:core:read",
            "openclaw:core:write",
            "openclaw:%63ore:read",
            "openclaw:zoo:read",
            "client:app:read"
        ]
    );
}

#[tokio::test]
async fn a_tool_is_found_by_its_exact_id_only() {
    let path = ExecutionPath::bare(Arc::new(full()));
    for (owner, name, expected) in [
        (Owner::Core, "read", Ok("\"core read\"")),
        (Owner::BundledPlugin("core".into()), "read", Ok("\"bundled\"")),
        (Owner::ExternalPlugin("zoo".into()), "read", Ok("\"external\"")),
        (Owner::Mcp("core".into()), "read", Ok("\"mcp read\"")),
        (
            Owner::Core,
            "Read",
            Err("there is no tool `openclaw:core:Read` here"),
        ),
        (
            Owner::ExternalPlugin("other".into()),
            "read",
            Err("there is no tool `openclaw:other:read` here"),
        ),
        (
            Owner::Client("other".into()),
            "read",
            Err("there is no tool `client:other:read` here"),
        ),
    ] {
        let tool = Arc::new(CatalogTool::alone(tool(owner, name)));
        let outcome = path.call(&tool, None, context()).await;
        let told = outcome.map(|delivered| delivered.result.value.unwrap().to_string());
        assert_eq!(
            told.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
    }
}

#[test]
fn two_tools_of_one_id_make_no_toolbox() {
    let duplicate = |id: &str| ToolboxError::Duplicate {
        id: ToolId::parse(id).unwrap(),
    };
    let named = || Arc::new(Named("read", ""));
    let core = Toolbox::builder().core(named()).core(named()).build();
    assert_eq!(core.err(), Some(duplicate("openclaw:core:read")));
    let plugin = Toolbox::builder()
        .plugin("p", true, named())
        .plugin("p", false, named())
        .build();
    assert_eq!(plugin.err(), Some(duplicate("openclaw:p:read")));
    let unnamed = Toolbox::builder()
        .plugin("p", true, Arc::new(Named(" ", "")))
        .build();
    assert_eq!(
        unnamed.err().unwrap().to_string(),
        "a tool of plugin `p` has no name"
    );
}

#[tokio::test]
async fn mcp_goes_to_whoever_carries_it_or_is_told_that_nobody_does() {
    let listed = ExecutionPath::bare(Arc::new(full()))
        .mcp_request("github", "resources/list", None, context())
        .await;
    assert_eq!(listed.unwrap(), text(json!("resources/list")));

    let alone = ExecutionPath::bare(Arc::new(Toolbox::builder().build().unwrap()));
    let told = "there is no MCP server `github` here";
    let nowhere = alone
        .mcp_request("github", "resources/list", None, context())
        .await;
    assert_eq!(nowhere.unwrap_err().to_string(), told);
    let issue = Arc::new(CatalogTool::alone(tool(Owner::Mcp("github".into()), "issue")));
    assert_eq!(
        alone.call(&issue, None, context()).await.unwrap_err().to_string(),
        told
    );
}

#[tokio::test]
async fn a_server_whose_tools_are_denied_cannot_be_read_either() {
    for (lists, passes) in [
        (json!({ "deny": ["mcp:github:*"] }), false),
        (json!({ "deny": ["github__*"] }), false),
        (json!({ "deny": ["bundle-mcp"] }), false),
        (json!({ "allow": ["read"] }), false),
        (json!({ "allow": ["mcp:github:*"] }), true),
        (json!({ "deny": ["mcp:gitlab:*"] }), true),
    ] {
        let step = Step::new("global", "tools", &serde_json::from_value(lists.clone()).unwrap()).unwrap();
        let path = ExecutionPath::bare(Arc::new(full())).with_policy(Policy::new(vec![step]));
        let read = path
            .mcp_request("github", "resources/read", None, context())
            .await;
        assert_eq!(read.is_ok(), passes, "{lists}");
        if let Err(error) = read {
            assert_eq!(error.code(), "blocked", "{lists}");
        }
    }
}
