//! What there is at one moment: for cells and for the model.
use std::sync::Arc;

use codecell::tools::{CallContext, Progress};
use codecell::{
    Caller, ExecutionPath, Exposure, Json, Owner, Replay, ServerInfo, Settings, Surface, Tool, ToolResult,
    ToolSpec,
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::upstream::{ServerSnapshot, Snapshot, State};

/// What there is at one moment: for cells and for the model.
pub(crate) struct View {
    pub(crate) surface: Arc<Surface>,
    pub(crate) visible: Arc<Vec<VisibleTool>>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// What the policy took away, for people.
    pub(crate) removed: Arc<Vec<RemovedTool>>,
}

impl View {
    /// The same, with calls that take `path`.
    pub(super) fn along(&self, path: ExecutionPath) -> Self {
        Self {
            surface: Arc::new(self.surface.along(path)),
            visible: Arc::clone(&self.visible),
            snapshot: Arc::clone(&self.snapshot),
            removed: Arc::clone(&self.removed),
        }
    }

    /// Calls one of the visible tools; gives the result in MCP's shape. The error is text for the model.
    pub(crate) async fn call_direct(
        &self,
        tool: &Arc<Tool>,
        arguments: &Value,
        caller: &Caller,
        number: u32,
        cancel: CancellationToken,
        progress: Progress,
    ) -> Result<String, String> {
        let context = CallContext {
            caller: Arc::new(caller.clone()),
            cell: None,
            number,
            cancel,
            progress,
        };
        let delivered = self
            .surface
            .path()
            .call(tool, Some(&Json::from(arguments)), context)
            .await;
        match delivered {
            Ok(delivered) if tool.is_mcp() => Ok(delivered.result.result.to_string()),
            Ok(delivered) => Ok(mcp_shape(&delivered.result)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A tool that the policy took away.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RemovedTool {
    pub(crate) id: String,
    pub(crate) is_mcp: bool,
    /// The label of the step, and where it is configured.
    pub(crate) step: String,
    pub(crate) config_key: String,
}

/// A tool that the model sees.
#[derive(Clone, Debug)]
pub(crate) struct VisibleTool {
    pub(crate) name: String,
    /// Its entry in `tools/list`.
    pub(crate) listing: Value,
    pub(crate) kind: VisibleKind,
}

impl VisibleTool {
    /// Whether the model would notice a difference.
    pub(crate) fn looks_like(&self, other: &Self) -> bool {
        self.name == other.name && self.listing == other.listing
    }
}

/// What a call to a visible tool does.
#[derive(Clone, Debug)]
pub(crate) enum VisibleKind {
    Exec,
    Wait,
    Direct(Arc<Tool>),
}

/// The result of a tool of this process, as MCP has it: objects are structured content, everything is text.
fn mcp_shape(result: &ToolResult) -> String {
    let mut fields = match result.result.read::<Value>() {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.remove("details");
    if let Some(value) = &result.value
        && let Ok(value @ Value::Object(_)) = value.read()
    {
        fields.insert("structuredContent".into(), value);
    }
    fields
        .entry("content")
        .or_insert_with(|| Value::Array(Vec::new()));
    if result.is_error {
        fields.insert("isError".into(), true.into());
    }
    Value::Object(fields).to_string()
}

/// `exec` and `wait` as the model is told of them.
pub(super) fn controls(surface: &Surface, settings: &Settings) -> Vec<VisibleTool> {
    let own = [
        (VisibleKind::Exec, surface.exec_descriptor(settings)),
        (VisibleKind::Wait, surface.wait_descriptor()),
    ];
    own.into_iter()
        .map(|(kind, descriptor)| VisibleTool {
            name: descriptor.name.into(),
            listing: serde_json::to_value(&descriptor).unwrap_or_default(),
            kind,
        })
        .collect()
}

/// The tools of all servers, in the order of the configuration and of the servers' lists.
pub(super) fn tool_specs(snapshot: &Snapshot) -> impl Iterator<Item = ToolSpec> {
    snapshot
        .servers
        .iter()
        .flat_map(|server| server.tools.iter().map(move |tool| (server, tool)))
        .map(|(server, tool)| ToolSpec {
            owner: Owner::Mcp(server.name.clone()),
            name: tool.name.clone(),
            label: tool.title.clone(),
            description: tool.description.clone(),
            parameters: tool.input_schema.clone(),
            output_schema: tool.output_schema.clone(),
            exposure: if tool.direct_only {
                Exposure::DirectOnly
            } else {
                Exposure::Catalog
            },
            // A server's own word never makes a tool replay-safe.
            replay: Replay::Unsafe,
            annotations: tool.annotations.clone(),
        })
}

pub(super) fn server_infos(snapshot: &Snapshot) -> Vec<ServerInfo> {
    snapshot
        .servers
        .iter()
        .filter(|server| server.state != State::Disabled)
        .map(|server| ServerInfo {
            name: server.name.clone(),
            resources: server.has_resources,
            prompts: server.has_prompts,
            instructions: server.instructions.as_deref().map(str::to_owned),
            state: state_in_cells(server),
        })
        .collect()
}

/// What a cell is told of a server's state: the reason too, because its author may be able to help.
fn state_in_cells(server: &ServerSnapshot) -> String {
    let label = server.state.label();
    match &server.state {
        _ if server.stale => "stale".to_owned(),
        State::Failed { reason } | State::NeedsAuth { reason } | State::Restarting { reason } => {
            format!("{label}: {reason}")
        }
        State::Connecting => format!("{label}, try again shortly"),
        _ => label.to_owned(),
    }
}
