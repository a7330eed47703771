use serde::{Deserialize, Serialize};

use crate::{
    id::ToolId,
    spec::{Source, ToolSpec},
};

/// What travels into the guest: SPEC's `ToolCatalogEntry`, compact and without schemas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The exact id.
    pub id: ToolId,
    /// The name its owner knows it by.
    pub name: String,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it does.
    pub description: String,
    /// Kind of owner.
    pub source: Source,
    /// Plugin id, server name or application; absent for core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
    /// Bounded hint of the argument; `unknown` for MCP and client tools until described.
    pub input: String,
    /// Hint of the value, only where a trusted schema says all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// The hint of a tool whose schema nobody vouches for.
const UNKNOWN: &str = "unknown";

impl Entry {
    pub(crate) fn of(id: ToolId, spec: &ToolSpec) -> Self {
        let trusted = spec.owner.is_trusted();
        Self {
            id,
            name: spec.name.clone(),
            label: spec.label.clone(),
            description: spec.description.clone(),
            source: spec.owner.source(),
            source_name: spec.owner.name().map(str::to_owned),
            input: if trusted {
                crate::schema::input_hint(&spec.parameters)
            } else {
                UNKNOWN.to_owned()
            },
            output: if trusted {
                spec.output_schema.as_ref().and_then(crate::schema::output_hint)
            } else {
                None
            },
        }
    }
}
