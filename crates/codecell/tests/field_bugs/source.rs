//! A source of tools that each test makes for itself.

use std::sync::{Arc, Mutex};

use codecell::{
    BoxFuture, Json, Owner, ServerInfo, Settings, Surface, ToolCall, ToolError, ToolExecutor, ToolResult,
    ToolSpec,
};
use serde_json::{Value, json};

use crate::tools::Bench;

type Answer = Result<ToolResult, ToolError>;
type Answering = dyn Fn(ToolCall) -> BoxFuture<Answer> + Send + Sync;

/// Answers with a function, and keeps what it was asked.
pub(crate) struct Source {
    answering: Box<Answering>,
    calls: Mutex<Vec<String>>,
}

impl Source {
    /// Every call so far: the tool's id, a blank, and the argument as it arrived.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

impl ToolExecutor for Source {
    fn execute(&self, call: ToolCall) -> BoxFuture<Answer> {
        let line = format!("{} {}", call.tool.id(), call.arguments);
        self.calls.lock().unwrap().push(line);
        (self.answering)(call)
    }
}

/// A bench over these tools; every one of them answers with its own id.
pub(crate) fn named(tools: Vec<ToolSpec>, servers: Vec<ServerInfo>) -> (Bench, Arc<Source>) {
    answering(tools, servers, |call| {
        let id = json!(call.tool.id());
        Box::pin(async move { Ok(value(&call, id)) })
    })
}

/// A bench over these tools, which answer as the function says.
pub(crate) fn answering(
    tools: Vec<ToolSpec>,
    servers: Vec<ServerInfo>,
    answering: impl Fn(ToolCall) -> BoxFuture<Answer> + Send + Sync + 'static,
) -> (Bench, Arc<Source>) {
    let source = Arc::new(Source {
        answering: Box::new(answering),
        calls: Mutex::default(),
    });
    let mut bench = Bench::with(Settings::default());
    let executor = Arc::<Source>::clone(&source);
    bench.context.surface = Arc::new(Surface::new(tools, servers, executor));
    (bench, source)
}

/// A value in the shape of the tool's owner.
pub(crate) fn value(call: &ToolCall, value: Value) -> ToolResult {
    let key = match call.owner() {
        Owner::Mcp(_) => "structuredContent",
        _ => "details",
    };
    ToolResult {
        result: Json::from(json!({ "content": [], key: value })),
        value: Some(Json::from(value)),
        is_error: false,
    }
}

/// A tool that takes anything.
pub(crate) fn tool(owner: Owner, name: &str) -> ToolSpec {
    shaped(owner, name, json!({ "type": "object" }))
}

/// A tool with this schema.
pub(crate) fn shaped(owner: Owner, name: &str, parameters: Value) -> ToolSpec {
    ToolSpec::new(owner, name, format!("Does {name}"), parameters)
}

pub(crate) fn core(name: &str) -> ToolSpec {
    tool(Owner::Core, name)
}

pub(crate) fn mcp(server: &str, name: &str) -> ToolSpec {
    tool(Owner::Mcp(server.into()), name)
}

pub(crate) fn client(name: &str) -> ToolSpec {
    tool(Owner::Client("app".into()), name)
}

pub(crate) fn ready(servers: &[&str]) -> Vec<ServerInfo> {
    servers.iter().map(|server| ServerInfo::ready(*server)).collect()
}
