//! What every tool has in common: schemas that are closed, arguments that are read, results that are written.

use std::sync::Arc;

use codecell_tools::{BoxFuture, Json, Tool, ToolCall, ToolDefinition, ToolError, ToolResult};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::problem;
use crate::roots::Roots;

/// What a file tool does, on a thread that may block. Loops look at the token.
pub(crate) type Work<A, O> = fn(&Roots, A, &CancellationToken) -> Result<O, ToolError>;

/// A tool that works on files.
pub(crate) struct FileTool<A, O> {
    pub(crate) definition: ToolDefinition,
    pub(crate) roots: Arc<Roots>,
    pub(crate) work: Work<A, O>,
}

impl<A, O> Tool for FileTool<A, O>
where
    A: DeserializeOwned + Send + 'static,
    O: Serialize + Send + 'static,
{
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn call(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let (roots, work) = (Arc::clone(&self.roots), self.work);
        Box::pin(async move {
            let given: A = arguments(&call)?;
            let cancel = call.cancel;
            let work = move || {
                check(&cancel)?;
                work(&roots, given, &cancel)
            };
            let done = tokio::task::spawn_blocking(work)
                .await
                .map_err(|_| ToolError::new("internal_error", "the tool stopped unexpectedly"))?;
            value(&done?)
        })
    }
}

/// Reads the arguments of a call.
pub(crate) fn arguments<A: DeserializeOwned>(call: &ToolCall) -> Result<A, ToolError> {
    call.arguments
        .read()
        .map_err(|error| ToolError::new("invalid_arguments", format!("the arguments do not fit: {error}")))
}

/// Writes a result.
pub(crate) fn value(value: &impl Serialize) -> Result<ToolResult, ToolError> {
    let json = Json::of(value).map_err(|error| {
        ToolError::new("internal_error", format!("the result cannot be written: {error}"))
    })?;
    Ok(ToolResult::of_value(json))
}

/// # Errors
///
/// Fails when nobody wants the answer any more.
pub(crate) fn check(cancel: &CancellationToken) -> Result<(), ToolError> {
    if cancel.is_cancelled() {
        return Err(problem::cancelled());
    }
    Ok(())
}

/// The schema of an object that has these properties and no others.
pub(crate) fn closed(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// What a tool does to the world, for its annotations.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// Looks at files and changes nothing.
    Reads,
    /// Changes files, and may overwrite what was there.
    Writes,
    /// Looks at the network and changes nothing.
    ReadsWorld,
    /// Can do anything.
    Acts,
}

/// A definition with a contract.
pub(crate) fn define(
    name: &str,
    label: &str,
    description: &str,
    [parameters, output]: [Value; 2],
    effect: Effect,
) -> ToolDefinition {
    let reads = matches!(effect, Effect::Reads | Effect::ReadsWorld);
    let open_world = matches!(effect, Effect::ReadsWorld | Effect::Acts);
    ToolDefinition {
        label: Some(label.to_owned()),
        output_schema: Some(output),
        annotations: Some(json!({
            "readOnlyHint": reads,
            "destructiveHint": !reads,
            "openWorldHint": open_world,
        })),
        replay_safe: reads,
        ..ToolDefinition::new(name, description, parameters)
    }
}
