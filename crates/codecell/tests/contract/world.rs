//! A process with tools of every kind: core, a plugin's, an MCP server's, an application's. They note what they did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use codecell::tools::{
    Approvals, AskRule, ClientTools, Hooks, McpRequest, Policy, Restrictions, Severity, Step, Tool, ToolDefinition,
    ToolLists, Toolbox,
};
use codecell::{
    BoxFuture, Caller, Codecell, EngineOptions, ExecutionPath, Json, Observer, Owner, RunContext, ServerInfo, Settings,
    Surface, ToolCall, ToolError, ToolExecutor, ToolResult, ToolSpec, Unobserved,
};
use codecell_plugins::{Origin, PluginHost, define_tool};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What really happened on the tools' side.
#[derive(Clone)]
pub(crate) struct Effects(Arc<watch::Sender<BTreeMap<String, u32>>>);

impl Effects {
    fn new() -> Self {
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
    pub(crate) fn open(&self, key: &str) {
        self.0.send_modify(|open| {
            open.insert(key.to_owned());
        });
    }

    async fn passed(&self, key: &str) {
        self.0.subscribe().wait_for(|open| open.contains(key)).await.unwrap();
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
    let mut call = GivenUp { effects, key, ended: false };
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

fn core(effects: &Effects, gates: &Gates) -> Vec<Arc<dyn Tool>> {
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
    let lie = define_tool("lie", "Promises one thing and gives another", json!({ "type": "object" }))
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
    let who = define_tool("who", "Says on whose behalf it is called", json!({ "type": "object" })).run_with_call(
        |_: Value, call: ToolCall| async move {
            let Caller { agent, session, run, channel, sender, sandboxed } = &*call.caller;
            Ok(json!([agent, session, run, channel, sender, sandboxed]))
        },
    );
    let shell = noting(effects, "exec", json!("ran"));
    vec![bump, echo, fail, lie, broken, who, shell, gate(effects, gates, "gate")]
}

/// The server `Files`.
struct Files {
    effects: Effects,
    gates: Gates,
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

fn files() -> Vec<ToolSpec> {
    let tool = |name: &str, parameters: Value| {
        ToolSpec::new(Owner::Mcp("Files".into()), name, "A tool of the server", parameters)
    };
    let mut lie = tool("lie", json!({ "type": "object" }));
    lie.output_schema = Some(ok_or_not());
    let path = takes(json!({ "path": { "type": "string" } }));
    vec![tool("read_file", path.clone()), tool("write_file", path), tool("wait_for", key()), lie]
}

/// The tools of the application: one of its own, one that lies, and one named like a core tool.
fn app() -> ClientTools {
    let any = || json!({ "type": "object" });
    let mut lie = ToolDefinition::new("lie_too", "Promises one thing and gives another", any());
    lie.output_schema = Some(ok_or_not());
    let select = ToolDefinition::new("select_file", "Lets the user select a file", any());
    let bump = ToolDefinition::new("bump", "Not the tool of that name", any());
    let (tools, refused) = ClientTools::new("app", vec![select, lie, bump]);
    assert_eq!(refused, []);
    tools
}

/// One engine for the whole binary: compiling the guest takes a while.
fn engine() -> Codecell {
    static ENGINE: OnceLock<Codecell> = OnceLock::new();
    ENGINE
        .get_or_init(|| Codecell::new(EngineOptions::default()).unwrap())
        .clone()
}

/// A process, a caller, and everything that stands between the two.
pub(crate) struct World {
    pub(crate) codecell: Codecell,
    pub(crate) effects: Effects,
    pub(crate) gates: Gates,
    pub(crate) plugins: PluginHost,
    pub(crate) hooks: Hooks,
    pub(crate) approvals: Approvals,
    pub(crate) ask_rules: Vec<AskRule>,
    pub(crate) client: ClientTools,
    pub(crate) policy: Policy,
    /// Whether the catalog is built as if there were no policy.
    pub(crate) stale: bool,
    /// Core tools beside the usual ones.
    pub(crate) more: Vec<Arc<dyn Tool>>,
    pub(crate) caller: Caller,
    pub(crate) settings: Settings,
    pub(crate) cancel: CancellationToken,
    pub(crate) observer: Arc<dyn Observer>,
}

impl World {
    /// Nobody is in the way. Every world has a session of its own.
    pub(crate) fn new(session: &str) -> Self {
        let plugins = PluginHost::new();
        Self {
            codecell: engine(),
            effects: Effects::new(),
            gates: Gates(Arc::new(watch::Sender::new(BTreeSet::new()))),
            hooks: plugins.hooks().clone(),
            plugins,
            approvals: Approvals::new(),
            ask_rules: Vec::new(),
            client: app(),
            policy: Policy::default(),
            stale: false,
            more: Vec::new(),
            caller: Caller::new("agent", session, "run"),
            settings: Settings::default(),
            cancel: CancellationToken::new(),
            observer: Arc::new(Unobserved),
        }
    }

    pub(crate) fn deny(&mut self, entries: &[&str]) {
        let deny = Some(entries.iter().map(|entry| (*entry).to_owned()).collect());
        let lists = ToolLists { deny, ..ToolLists::default() };
        self.policy = Policy::new(vec![Step::new("global", "tools", &lists).unwrap()]);
    }

    /// Has a person asked about these tools.
    pub(crate) fn ask_about(&mut self, entries: &[&str]) {
        self.ask_rules = vec![AskRule {
            selectors: Restrictions::parse(entries).unwrap(),
            timeout: None,
            severity: Severity::Warning,
        }];
    }

    /// What a cell that starts now can reach.
    pub(crate) fn surface(&self) -> Surface {
        let (effects, gates) = (self.effects.clone(), self.gates.clone());
        let mut tools = Toolbox::builder().client(self.client.clone());
        for tool in core(&effects, &gates).into_iter().chain(self.more.iter().cloned()) {
            tools = tools.core(tool);
        }
        for loaded in self.plugins.tools() {
            tools = tools.plugin(loaded.plugin_id, loaded.origin == Origin::Bundled, loaded.tool);
        }
        let toolbox = tools.mcp(Arc::new(Files { effects, gates })).build().unwrap();
        let mut specs = toolbox.specs();
        specs.extend(files());
        if !self.stale {
            specs = self.policy.apply(specs).kept;
        }
        let path = ExecutionPath::bare(Arc::new(toolbox))
            .with_policy(self.policy.clone())
            .with_hooks(self.hooks.clone())
            .with_approvals(self.approvals.clone())
            .with_ask_rules(self.ask_rules.clone());
        let server = ServerInfo { resources: true, ..ServerInfo::ready("Files") };
        Surface::guarded(specs, vec![server], path)
            .with_namespaces(&self.plugins.namespaces().registrations(), json!({ "repository": "octo/cat" }))
    }

    pub(crate) fn context(&self) -> RunContext {
        RunContext {
            caller: self.caller.clone(),
            surface: Arc::new(self.surface()),
            settings: self.settings,
            cancel: self.cancel.clone(),
            observer: Arc::clone(&self.observer),
        }
    }

    pub(crate) async fn exec(&self, code: &str) -> Value {
        self.exec_with(json!({ "code": code })).await
    }

    pub(crate) async fn exec_with(&self, arguments: Value) -> Value {
        serde_json::to_value(self.codecell.exec(&arguments, self.context()).await).unwrap()
    }

    pub(crate) async fn wait(&self, run_id: &Value) -> Value {
        let arguments = json!({ "runId": run_id });
        serde_json::to_value(self.codecell.wait(&arguments, self.context()).await).unwrap()
    }

    /// Runs a cell that must complete, and gives its value.
    pub(crate) async fn value(&self, code: &str) -> Value {
        completed(self.exec(code).await)
    }

    /// What a program catches from an expression.
    pub(crate) async fn caught(&self, expression: &str) -> Value {
        self.value(&catching(expression)).await
    }
}

/// A program that gives what an expression throws.
pub(crate) fn catching(expression: &str) -> String {
    format!(
        "try {{ return {{ value: await {expression} }} }} catch (e) {{ return {{ error: e instanceof Error, \
         name: e.name, code: e.code, message: e.message, details: e.details }} }}"
    )
}

/// The value of a result that has one.
pub(crate) fn completed(result: Value) -> Value {
    assert_eq!(result["status"], "completed", "{result:#}");
    result["value"].clone()
}

/// The result without its telemetry, which has tests of its own.
pub(crate) fn bare(mut result: Value) -> Value {
    result.as_object_mut().unwrap().remove("telemetry");
    result
}

/// What the contract says of a call that was not let through.
pub(crate) fn blocked(tool: &str, reason: &str, denied: &str) -> Value {
    json!({
        "error": true, "name": "Error", "code": "blocked",
        "message": format!("Tool \"{tool}\" was blocked before execution: {reason}"),
        "details": { "status": "blocked", "deniedReason": denied, "reason": reason },
    })
}
