//! Tools of every kind, which note what they did and wait where their test says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use codecell::tools::{ClientTools, McpRequest, Tool, ToolDefinition};
use codecell::{BoxFuture, Caller, Json, Owner, ToolCall, ToolError, ToolExecutor, ToolResult, ToolSpec};
use codecell_plugins::define_tool;
use serde_json::{Value, json};
use tokio::sync::watch;

/// What really happened on the tools' side.
#[derive(Clone)]
pub(crate) struct Effects(Arc<watch::Sender<BTreeMap<String, u32>>>);

impl Effects {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(BTreeMap::new())))
    }

    pub(crate) fn add(&self, what: &str) -> u32 {
        self.0
            .send_modify(|counts| *counts.entry(what.to_owned()).or_default() += 1);
        self.count(what)
    }

    pub(crate) fn count(&self, what: &str) -> u32 {
        self.0.borrow().get(what).copied().unwrap_or_default()
    }

    pub(crate) fn all(&self) -> BTreeMap<String, u32> {
        self.0.borrow().clone()
    }

    /// Waits until it has happened so often.
    pub(crate) async fn reached(&self, what: &str, times: u32) {
        let mut counts = self.0.subscribe();
        let there = |counts: &BTreeMap<String, u32>| counts.get(what).is_some_and(|count| *count >= times);
        counts.wait_for(there).await.unwrap();
    }
}

/// Tools wait here until their test lets them go on.
#[derive(Clone)]
pub(crate) struct Gates(Arc<watch::Sender<BTreeSet<String>>>);

impl Gates {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(BTreeSet::new())))
    }

    pub(crate) fn open(&self, key: &str) {
        self.0.send_modify(|open| {
            open.insert(key.to_owned());
        });
    }

    async fn passed(&self, key: &str) {
        self.0
            .subscribe()
            .wait_for(|open| open.contains(key))
            .await
            .unwrap();
    }
}

/// Notes a call that was given up before it ended.
struct GivenUp {
    effects: Effects,
    key: String,
    ended: bool,
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        if !self.ended {
            self.effects.add(&format!("gave up {}", self.key));
        }
    }
}

async fn through_gate(effects: Effects, gates: Gates, key: String) -> Result<Value, ToolError> {
    effects.add(&format!("at gate {key}"));
    let mut call = GivenUp {
        effects,
        key,
        ended: false,
    };
    gates.passed(&call.key).await;
    call.ended = true;
    Ok(json!(format!("passed {}", call.key)))
}

/// An argument object with these properties, all of them required.
pub(crate) fn takes(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn key() -> Value {
    takes(json!({ "key": { "type": "string" } }))
}

fn ok_or_not() -> Value {
    json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
            "additionalProperties": false })
}

/// A tool that notes its name and gives a value.
pub(crate) fn noting(effects: &Effects, name: &str, value: Value) -> Arc<dyn Tool> {
    let (effects, note) = (effects.clone(), name.to_owned());
    define_tool(name, "Notes that it was called", json!({ "type": "object" })).run(move |_: Value| {
        effects.add(&note);
        let value = value.clone();
        async move { Ok(value) }
    })
}

/// A tool that waits at the gate it is told.
pub(crate) fn gate(effects: &Effects, gates: &Gates, name: &str) -> Arc<dyn Tool> {
    let (effects, gates) = (effects.clone(), gates.clone());
    define_tool(name, "Waits until it may go on", key()).run(move |input: BTreeMap<String, String>| {
        through_gate(effects.clone(), gates.clone(), input["key"].clone())
    })
}

pub(crate) fn core(effects: &Effects, gates: &Gates) -> Vec<Arc<dyn Tool>> {
    let bumps = effects.clone();
    let bump = define_tool("bump", "Counts", key()).run(move |input: BTreeMap<String, String>| {
        let count = bumps.add(&input["key"]);
        async move { Ok(count) }
    });
    let echo = define_tool("echo", "Gives back its x", takes(json!({ "x": {} })))
        .read_only()
        .replay_safe()
        .run(|mut input: BTreeMap<String, Value>| async move { Ok(input.remove("x")) });
    let fail = define_tool("fail", "Fails", json!({ "type": "object" })).run(|_: Value| async {
        Err::<(), _>(ToolError {
            details: Some(Json::from(json!({ "status": 418 }))),
            ..ToolError::new("teapot", "no coffee here")
        })
    });
    let lies = effects.clone();
    let lie = define_tool(
        "lie",
        "Promises one thing and gives another",
        json!({ "type": "object" }),
    )
    .output(ok_or_not())
    .run(move |_: Value| {
        lies.add("lie");
        async { Ok(json!({ "ok": "s3cret" })) }
    });
    let brokens = effects.clone();
    let broken = define_tool("broken", "Has a schema that is none", json!({ "type": "object" }))
        .output(json!({ "type": 12 }))
        .run(move |_: Value| {
            brokens.add("broken");
            async { Ok(1) }
        });
    let who = define_tool(
        "who",
        "Says on whose behalf it is called",
        json!({ "type": "object" }),
    )
    .run_with_call(|_: Value, call: ToolCall| async move {
        let Caller {
            agent,
            session,
            run,
            channel,
            sender,
            sandboxed,
        } = &*call.caller;
        Ok(json!([agent, session, run, channel, sender, sandboxed]))
    });
    let shell = noting(effects, "exec", json!("ran"));
    vec![
        bump,
        echo,
        fail,
        lie,
        broken,
        who,
        shell,
        gate(effects, gates, "gate"),
    ]
}

/// The server `Files`.
pub(crate) struct Files {
    pub(crate) effects: Effects,
    pub(crate) gates: Gates,
}

impl ToolExecutor for Files {
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let (effects, gates) = (self.effects.clone(), self.gates.clone());
        Box::pin(async move {
            effects.add(&format!("mcp {}", call.name()));
            let value = match call.name() {
                "lie" => json!({ "ok": "s3cret" }),
                "wait_for" => {
                    let input: BTreeMap<String, String> = call.arguments.read().unwrap();
                    let passed = through_gate(effects, gates, input["key"].clone());
                    call.cancel
                        .run_until_cancelled(passed)
                        .await
                        .unwrap_or_else(|| Err(ToolError::new("aborted", "cancelled")))?
                }
                _ => call.arguments.read().unwrap(),
            };
            Ok(ToolResult {
                result: Json::from(json!({ "content": [], "structuredContent": value })),
                value: Some(Json::from(value)),
                is_error: false,
            })
        })
    }

    fn mcp_request(&self, request: McpRequest) -> BoxFuture<Result<Json, ToolError>> {
        self.effects.add(request.method);
        Box::pin(async { Ok(Json::from(json!({ "resources": [] }))) })
    }
}

pub(crate) fn files() -> Vec<ToolSpec> {
    let tool = |name: &str, parameters: Value| {
        ToolSpec::new(
            Owner::Mcp("Files".into()),
            name,
            "A tool of the server",
            parameters,
        )
    };
    let mut lie = tool("lie", json!({ "type": "object" }));
    lie.output_schema = Some(ok_or_not());
    let path = takes(json!({ "path": { "type": "string" } }));
    vec![
        tool("read_file", path.clone()),
        tool("write_file", path),
        tool("wait_for", key()),
        lie,
    ]
}

/// The tools of the application: one of its own, one that lies, and one named like a core tool.
pub(crate) fn app() -> ClientTools {
    let any = || json!({ "type": "object" });
    let mut lie = ToolDefinition::new("lie_too", "Promises one thing and gives another", any());
    lie.output_schema = Some(ok_or_not());
    let select = ToolDefinition::new("select_file", "Lets the user select a file", any());
    let bump = ToolDefinition::new("bump", "Not the tool of that name", any());
    let (tools, refused) = ClientTools::new("app", vec![select, lie, bump]);
    assert_eq!(refused, []);
    tools
}
