use codecell_bridge::BoxFuture;
use codecell_catalog::{Exposure, Owner, Replay, ToolSpec};
use serde_json::Value;

use crate::executor::{ToolCall, ToolError, ToolResult};

/// A tool that runs in this process: one of the product's own, or a plugin's.
pub trait Tool: Send + Sync + 'static {
    /// What it is called and what it takes and gives.
    fn definition(&self) -> ToolDefinition;

    /// Runs it. Policy, hooks and approval lie behind, the arguments fit the schema. What is returned is checked
    /// against the output schema.
    fn call(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>>;
}

/// What a tool says of itself. Who owns it is not its own decision: that is added where it is registered.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// Its name, unique among its owner's tools.
    pub name: String,
    /// A title for people.
    pub label: Option<String>,
    /// What it does.
    pub description: String,
    /// JSON Schema of its argument object.
    pub parameters: Value,
    /// JSON Schema of its structured value, if that is always of one shape. A promise: a result that breaks it is an
    /// error.
    pub output_schema: Option<Value>,
    /// MCP's hints, for people and policies.
    pub annotations: Option<Value>,
    /// Whether repeating a call does no harm.
    pub replay_safe: bool,
    /// Whether its result cannot cross a JSON wall, so that the model has to see the tool itself.
    pub direct_only: bool,
}

impl ToolDefinition {
    /// A tool with the three things every tool has; no contract, not replay-safe, catalogued.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            label: None,
            description: description.into(),
            parameters,
            output_schema: None,
            annotations: None,
            replay_safe: false,
            direct_only: false,
        }
    }

    /// The catalog's view of the tool, as `owner`'s.
    #[must_use]
    pub fn into_spec(self, owner: Owner) -> ToolSpec {
        ToolSpec {
            owner,
            name: self.name,
            label: self.label,
            description: self.description,
            parameters: self.parameters,
            output_schema: self.output_schema,
            exposure: if self.direct_only {
                Exposure::DirectOnly
            } else {
                Exposure::Catalog
            },
            replay: if self.replay_safe {
                Replay::Safe
            } else {
                Replay::Unsafe
            },
            annotations: self.annotations,
        }
    }
}
