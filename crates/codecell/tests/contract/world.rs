//! A process with tools of every kind, and everything that stands between them and a caller.

use std::sync::{Arc, OnceLock};

use codecell::tools::{
    Approvals, AskRule, ClientTools, Hooks, Policy, Restrictions, Severity, Step, Tool, ToolLists, Toolbox,
};
use codecell::{
    Caller, Codecell, EngineOptions, ExecutionPath, Observer, RunContext, ServerInfo, Settings, Surface,
    ToolSpec, Unobserved,
};
use codecell_plugins::{Origin, PluginHost};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::tools::{Effects, Files, Gates, app, core, files};

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
    /// Tools of the server beside the usual ones; they give their argument back.
    pub(crate) served: Vec<ToolSpec>,
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
            gates: Gates::new(),
            hooks: plugins.hooks().clone(),
            plugins,
            approvals: Approvals::new(),
            ask_rules: Vec::new(),
            client: app(),
            policy: Policy::default(),
            stale: false,
            more: Vec::new(),
            served: Vec::new(),
            caller: Caller::new("agent", session, "run"),
            settings: Settings::default(),
            cancel: CancellationToken::new(),
            observer: Arc::new(Unobserved),
        }
    }

    pub(crate) fn deny(&mut self, entries: &[&str]) {
        let deny = Some(entries.iter().map(|entry| (*entry).to_owned()).collect());
        let lists = ToolLists {
            deny,
            ..ToolLists::default()
        };
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
        for tool in core(&effects, &gates)
            .into_iter()
            .chain(self.more.iter().cloned())
        {
            tools = tools.core(tool);
        }
        for loaded in self.plugins.tools() {
            tools = tools.plugin(loaded.plugin_id, loaded.origin == Origin::Bundled, loaded.tool);
        }
        let toolbox = tools.mcp(Arc::new(Files { effects, gates })).build().unwrap();
        let mut specs = toolbox.specs();
        specs.extend(files().into_iter().chain(self.served.iter().cloned()));
        if !self.stale {
            specs = self.policy.apply(specs).kept;
        }
        let path = ExecutionPath::bare(Arc::new(toolbox))
            .with_policy(self.policy.clone())
            .with_hooks(self.hooks.clone())
            .with_approvals(self.approvals.clone())
            .with_ask_rules(self.ask_rules.clone());
        let server = ServerInfo {
            resources: true,
            ..ServerInfo::ready("Files")
        };
        Surface::guarded(specs, vec![server], path).with_namespaces(
            &self.plugins.namespaces().registrations(),
            json!({ "repository": "octo/cat" }),
        )
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

    /// Runs a cell to its end, however often it is suspended.
    pub(crate) async fn run(&self, code: &str) -> Value {
        let mut result = self.exec(code).await;
        while result["status"] == "waiting" {
            result = self.wait(&result["runId"]).await;
        }
        result
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
