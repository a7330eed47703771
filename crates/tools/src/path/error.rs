use codecell_bridge::Json;
use codecell_catalog::{ArgumentError, ContractError, OutputError};
use serde_json::json;

use super::MAX_ARGUMENT_BYTES;
use crate::executor::ToolError;

/// Why a call was not made, or gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The argument is no JSON object that fits the tool's schema.
    #[error("{0}")]
    Arguments(ArgumentError),
    /// The argument cannot be read.
    #[error("the argument cannot be read: {0}")]
    Unreadable(String),
    /// The argument is larger than [`MAX_ARGUMENT_BYTES`].
    #[error(
        "the argument of `{tool}` is {bytes} bytes of JSON; the limit is {MAX_ARGUMENT_BYTES}. Pass less, or pass it in parts"
    )]
    TooLarge {
        /// The tool's id.
        tool: String,
        /// The argument's size.
        bytes: usize,
    },
    /// The two spellings of a program differ.
    #[error("code and command must match when both are provided.")]
    CodeAndCommand,
    /// A core or plugin tool has a schema that does not compile, so it was not called.
    #[error("{0}")]
    Contract(ContractError),
    /// A rule, a plugin or a person did not let the call through; the tool was not called.
    #[error(r#"Tool "{tool}" was blocked before execution: {reason}"#)]
    Blocked {
        /// The tool's id; `exec` for the outer call of code mode.
        tool: String,
        /// Why, for whoever called.
        reason: String,
        /// Who did not let it through.
        denied: DeniedReason,
    },
    /// Nobody wants the answer any more. If the tool was already running it has been told, and its effect is unknown.
    #[error("the call was aborted")]
    Aborted,
    /// A core or plugin tool was called and its value breaks its output schema.
    #[error("{0}")]
    Output(OutputError),
    /// The tool, or the way to it, failed.
    #[error("{0}")]
    Tool(#[from] ToolError),
}

/// Who did not let a call through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeniedReason {
    /// A plugin's hook blocked it or failed.
    PluginBeforeToolCall,
    /// It needed an approval and got none.
    PluginApproval,
    /// The same call was made too often.
    ToolLoop,
    /// The tool policy, or a trusted one.
    Policy,
}

impl DeniedReason {
    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PluginBeforeToolCall => "plugin-before-tool-call",
            Self::PluginApproval => "plugin-approval",
            Self::ToolLoop => "tool-loop",
            Self::Policy => "policy",
        }
    }
}

impl CallError {
    /// Stable and machine-readable.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Arguments(_) | Self::Unreadable(_) | Self::TooLarge { .. } | Self::CodeAndCommand => {
                "invalid_input"
            }
            Self::Contract(_) => "invalid_contract",
            Self::Blocked { .. } => "blocked",
            Self::Aborted => "aborted",
            Self::Output(_) => "output_contract",
            Self::Tool(error) => error.code,
        }
    }

    /// What a program can read beside the message: for a blocked call `status`, `deniedReason` and `reason`, for a
    /// failed tool what it gave.
    #[must_use]
    pub fn details(&self) -> Option<Json> {
        match self {
            Self::Blocked { reason, denied, .. } => Some(Json::from(json!({
                "status": "blocked",
                "deniedReason": denied.as_str(),
                "reason": reason,
            }))),
            Self::Tool(error) => error.details.clone(),
            _ => None,
        }
    }
}
