//! One fake source of tools, addressable as core, MCP and client, with counters on the tools' side.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use codecell::{
    BoxFuture, Caller, Codecell, EngineOptions, Json, McpRequest, Owner, RunContext, ServerInfo, Settings,
    Surface, ToolCall, ToolError, ToolExecutor, ToolResult, ToolSpec, Unobserved,
};
use serde_json::{Value, json};

/// Counts what really happened on the tools' side.
#[derive(Default)]
pub(crate) struct Counters(Mutex<BTreeMap<String, u32>>);

impl Counters {
    fn add(&self, what: &str) {
        *self.0.lock().unwrap().entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn get(&self, what: &str) -> u32 {
        self.0.lock().unwrap().get(what).copied().unwrap_or(0)
    }
}

struct Fixture(Arc<Counters>);

impl ToolExecutor for Fixture {
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let counters = Arc::clone(&self.0);
        Box::pin(async move {
            counters.add(&format!("start {}", call.name()));
            let mut guard = Unfinished {
                counters: Arc::clone(&counters),
                name: call.name().to_owned(),
                finished: false,
            };
            let answer = tokio::select! {
                answer = answer(&call, &counters) => answer,
                () = call.cancel.cancelled() => return Err(failure("aborted", "cancelled")),
            };
            guard.finished = true;
            answer
        })
    }

    fn mcp_request(&self, request: McpRequest) -> BoxFuture<Result<Json, ToolError>> {
        let params = request
            .params
            .map_or(Value::Null, |params| params.read().unwrap());
        let result = json!({ "server": request.server, "method": request.method, "params": params });
        Box::pin(async move { Ok(Json::from(result)) })
    }
}

/// Notes a call that was dropped or cancelled before it ended.
struct Unfinished {
    counters: Arc<Counters>,
    name: String,
    finished: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.finished {
            self.counters.add(&format!("cancelled {}", self.name));
        }
    }
}

async fn answer(call: &ToolCall, counters: &Counters) -> Result<ToolResult, ToolError> {
    let arguments: Value = call.arguments.read().unwrap();
    match call.name() {
        "echo" => {
            // The text is passed on as it is, so that nothing is rounded here.
            let mut given = call.arguments.read::<BTreeMap<String, Json>>().unwrap();
            let x = given.remove("x").unwrap_or_else(Json::null);
            let text = if matches!(call.owner(), Owner::Mcp(_)) {
                format!(r#"{{"content":[],"structuredContent":{x}}}"#)
            } else {
                format!(r#"{{"content":[],"details":{x}}}"#)
            };
            Ok(ToolResult {
                result: Json::parse(&text).unwrap(),
                value: Some(x),
                is_error: false,
            })
        }
        "slow" => {
            tokio::time::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap())).await;
            Ok(value(arguments["v"].clone()))
        }
        "never" => std::future::pending().await,
        "fail" => match arguments["kind"].as_str().unwrap() {
            "throw" => Err(ToolError {
                code: "upstream_error",
                message: "the tool threw".into(),
                details: Some(Json::from(json!({ "status": 422, "body": "no such user" }))),
            }),
            "isError" => Ok(ToolResult {
                result: Json::from(
                    json!({ "content": [{ "type": "text", "text": "disk full" }], "isError": true }),
                ),
                value: None,
                is_error: true,
            }),
            kind => panic!("unknown kind {kind}"),
        },
        "bump" => {
            let key = arguments["key"].as_str().unwrap();
            counters.add(key);
            Ok(value(json!(counters.get(key))))
        }
        "mixed" => Ok(ToolResult {
            result: Json::from(json!({
                "content": [{ "type": "text", "text": "t" }, { "type": "image", "data": "aGk=", "mimeType": "image/png" }],
                "structuredContent": { "n": 1 },
            })),
            value: Some(Json::from(json!({ "n": 1 }))),
            is_error: false,
        }),
        "lie" => Ok(value(json!({ "secret": "value" }))),
        "deep" => {
            let levels = arguments["levels"].as_u64().unwrap() as usize;
            let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            let value = Json::parse(&text).unwrap();
            Ok(ToolResult {
                result: value.clone(),
                value: Some(value),
                is_error: false,
            })
        }
        name => panic!("unknown tool {name}"),
    }
}

fn value(value: Value) -> ToolResult {
    ToolResult {
        result: Json::from(json!({ "content": [], "details": value })),
        value: Some(Json::from(value)),
        is_error: false,
    }
}

fn failure(code: &'static str, message: &str) -> ToolError {
    ToolError {
        code,
        message: message.into(),
        details: None,
    }
}

fn specs(owner: &Owner) -> Vec<ToolSpec> {
    let tool = |name: &str, description: &str, properties: Value, required: Value| {
        let parameters = json!({ "type": "object", "properties": properties, "required": required });
        ToolSpec::new(owner.clone(), name, description, parameters)
    };
    let mut lie = tool(
        "lie",
        "Declares one thing and returns another",
        json!({}),
        json!([]),
    );
    lie.output_schema =
        Some(json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"] }));
    vec![
        tool("echo", "Gives back its argument", json!({ "x": {} }), json!([])),
        tool(
            "slow",
            "Answers after a while",
            json!({ "ms": { "type": "integer" }, "v": {} }),
            json!(["ms"]),
        ),
        tool("never", "Never answers", json!({}), json!([])),
        tool(
            "fail",
            "Fails in several ways",
            json!({ "kind": { "type": "string" } }),
            json!(["kind"]),
        ),
        tool(
            "bump",
            "Counts on the server",
            json!({ "key": { "type": "string" } }),
            json!(["key"]),
        ),
        tool("mixed", "Text, image and structure", json!({}), json!([])),
        tool(
            "deep",
            "Returns nested arrays",
            json!({ "levels": { "type": "integer" } }),
            json!(["levels"]),
        ),
        lie,
    ]
}

/// One engine for the whole test binary: compiling the guest takes a while.
fn engine() -> Codecell {
    static ENGINE: OnceLock<Codecell> = OnceLock::new();
    ENGINE
        .get_or_init(|| Codecell::new(EngineOptions::default()).unwrap())
        .clone()
}

/// Somebody who sits in front of the tools.
pub(crate) struct Bench {
    pub(crate) codecell: Codecell,
    pub(crate) counters: Arc<Counters>,
    pub(crate) context: RunContext,
}

impl Bench {
    /// Core tools, the same again on an MCP server called `Fixture Server`, and a server that did not start.
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let mut tools = specs(&Owner::Core);
        tools.extend(specs(&Owner::Mcp("Fixture Server".into())));
        let mut app = specs(&Owner::Client("app".into()));
        app.retain(|tool| tool.name == "lie");
        tools.extend(app);
        let server = ServerInfo {
            resources: true,
            prompts: true,
            ..ServerInfo::ready("Fixture Server")
        };
        let broken = ServerInfo {
            state: "failed: exited with status 3".into(),
            ..ServerInfo::ready("Broken")
        };
        let counters = Arc::<Counters>::default();
        let executor = Arc::new(Fixture(Arc::clone(&counters)));
        let context = RunContext {
            caller: Caller::new("agent", "session", "run"),
            surface: Arc::new(Surface::new(tools, vec![server, broken], executor)),
            settings,
            cancel: Default::default(),
            observer: Arc::new(Unobserved),
        };
        Self {
            codecell: engine(),
            counters,
            context,
        }
    }

    /// Runs a JavaScript cell.
    pub(crate) async fn exec(&self, code: &str) -> Value {
        self.exec_with(json!({ "code": code })).await
    }

    pub(crate) async fn exec_with(&self, arguments: Value) -> Value {
        serde_json::from_str(&self.exec_text(arguments).await).unwrap()
    }

    /// The result as text, in which no number was rounded.
    pub(crate) async fn exec_text(&self, arguments: Value) -> String {
        self.codecell
            .exec(&arguments, self.context.clone())
            .await
            .to_json_text()
    }

    pub(crate) async fn wait(&self, run_id: &Value) -> Value {
        let result = self
            .codecell
            .wait(&json!({ "runId": run_id }), self.context.clone())
            .await;
        serde_json::from_str(&result.to_json_text()).unwrap()
    }

    /// Runs a cell that must complete, and gives its value.
    pub(crate) async fn value(&self, code: &str) -> Value {
        let result = self.exec(code).await;
        assert_eq!(result["status"], "completed", "{code}\n{result:#}");
        result["value"].clone()
    }
}

/// The result without its telemetry, which has a test of its own.
pub(crate) fn bare(mut result: Value) -> Value {
    result.as_object_mut().unwrap().remove("telemetry");
    result
}
