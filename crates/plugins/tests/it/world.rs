use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use codecell_catalog::Catalog;
use codecell_namespaces::PluginNamespaces;
use codecell_plugins::{
    AfterEvent, AfterToolCall, BeforeEvent, BeforeToolCall, BoxFuture, HookDecision, HookFailure, Origin,
    Plugin, PluginApi, PluginError, PluginHost, Registration, Scope, Tool, ToolError, ToolResult,
    define_tool,
};
use codecell_tools::{CallContext, CallError, Caller, ExecutionPath, Json, Progress, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

type Register = Box<dyn Fn(&mut PluginApi) -> Result<(), PluginError> + Send + Sync>;

/// A plugin that registers what its test says, and counts how often it was unloaded.
pub(crate) struct Scripted {
    id: &'static str,
    register: Register,
    pub(crate) unloads: AtomicUsize,
}

impl Scripted {
    pub(crate) fn new(
        id: &'static str,
        register: impl Fn(&mut PluginApi) -> Result<(), PluginError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            register: Box::new(register),
            unloads: AtomicUsize::new(0),
        })
    }
}

impl Plugin for Scripted {
    fn id(&self) -> &str {
        self.id
    }

    fn register(&self, api: &mut PluginApi) -> Result<(), PluginError> {
        (self.register)(api)
    }

    fn unload(&self) {
        self.unloads.fetch_add(1, Ordering::Relaxed);
    }
}

/// A tool that gives its argument back.
pub(crate) fn echo(name: &str) -> Arc<dyn Tool> {
    define_tool(name, "Gives its argument back", json!({ "type": "object" }))
        .run(|input: Value| async move { Ok::<_, ToolError>(input) })
}

pub(crate) fn namespace(id: &str, global_name: &str) -> Registration {
    Registration::new(id, global_name, "", ["echo"], |_| Ok(Scope::new()))
}

/// Writes down which tools it was asked about, before and after.
#[derive(Clone, Default)]
pub(crate) struct Witness(Arc<Mutex<Vec<String>>>);

impl Witness {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn saw(&self, when: &str, tool: &str) {
        self.0.lock().unwrap().push(format!("{when} {tool}"));
    }
}

impl BeforeToolCall for Witness {
    fn before(&self, event: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
        self.saw("before", &event.call.tool);
        Box::pin(async { Ok(HookDecision::pass()) })
    }
}

impl AfterToolCall for Witness {
    fn after(&self, event: AfterEvent) -> BoxFuture<Result<Option<ToolResult>, HookFailure>> {
        self.saw("after", &event.call.tool);
        Box::pin(async { Ok(None) })
    }
}

/// A tool, two hooks and a namespace: one thing of every kind.
pub(crate) fn register_all(api: &mut PluginApi, witness: &Witness) {
    api.tool(echo("echo"));
    api.before_tool_call(0, None, Arc::new(witness.clone()));
    api.after_tool_call(0, None, Arc::new(witness.clone()));
    api.namespace(namespace("echoes", "Echoes"));
}

/// What is visible of the plugins of `host`: the ids of tools, then the globals.
pub(crate) fn visible(host: &PluginHost) -> Vec<String> {
    let catalog = Catalog::build(toolbox(host).specs());
    let namespaces = PluginNamespaces::visible(&host.namespaces().registrations(), &catalog);
    let tools = catalog.tools().map(|tool| tool.id().to_string());
    tools.chain(namespaces.list().map(str::to_owned)).collect()
}

fn toolbox(host: &PluginHost) -> Toolbox {
    let tools = host.tools().into_iter();
    let builder = tools.fold(Toolbox::builder(), |builder, loaded| {
        builder.plugin(loaded.plugin_id, loaded.origin == Origin::Bundled, loaded.tool)
    });
    builder.build().unwrap()
}

/// What asks the hooks of `host` about a call of somebody else's tool.
pub(crate) async fn call_of_another(host: &PluginHost) -> Result<ToolResult, CallError> {
    let toolbox = Toolbox::builder().core(echo("other")).build().unwrap();
    let id = "openclaw:core:other";
    call(toolbox, host, id, "{}").await
}

/// Calls a tool of a loaded plugin.
pub(crate) async fn call_own(host: &PluginHost, id: &str, arguments: &str) -> Result<ToolResult, CallError> {
    call(toolbox(host), host, id, arguments).await
}

async fn call(
    toolbox: Toolbox,
    host: &PluginHost,
    id: &str,
    arguments: &str,
) -> Result<ToolResult, CallError> {
    let tool = Catalog::build(toolbox.specs()).shared(id).unwrap();
    let path = ExecutionPath::bare(Arc::new(toolbox)).with_hooks(host.hooks().clone());
    let context = CallContext {
        caller: Arc::new(Caller {
            agent: "main".into(),
            ..Caller::default()
        }),
        cell: None,
        number: 0,
        cancel: CancellationToken::new(),
        progress: Progress::default(),
    };
    let arguments = Json::parse(arguments).unwrap();
    let delivered = path.call(&tool, Some(&arguments), context).await?;
    Ok(delivered.result)
}
