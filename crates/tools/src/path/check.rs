//! The checks that always hold: the argument before a call, the value after it.

use codecell_bridge::Json;
use codecell_catalog::Tool as CatalogTool;
use serde_json::Value;

use super::MAX_ARGUMENT_BYTES;
use super::error::CallError;
use crate::executor::ToolResult;

/// Checks an argument, and gives it as it was read.
pub(super) fn arguments(tool: &CatalogTool, arguments: &Json) -> Result<Value, CallError> {
    if arguments.len() > MAX_ARGUMENT_BYTES {
        return Err(CallError::TooLarge {
            tool: tool.id().to_string(),
            bytes: arguments.len(),
        });
    }
    let parsed: Value = arguments
        .read()
        .map_err(|error| CallError::Unreadable(error.to_string()))?;
    tool.check_arguments(&parsed).map_err(CallError::Arguments)?;
    Ok(parsed)
}

/// Checks a value against what its tool declares: a trusted tool fails, any other one is reported. A tool that says
/// it failed promises nothing.
pub(super) fn output(tool: &CatalogTool, result: &ToolResult) -> Result<Option<String>, CallError> {
    if result.is_error || tool.spec().output_schema.is_none() {
        return Ok(None);
    }
    let parsed = match result.value.as_ref().map(Json::read::<Value>) {
        Some(Ok(parsed)) => parsed,
        Some(Err(_)) | None => Value::Null,
    };
    match tool.check_output(&parsed) {
        Ok(()) => Ok(None),
        Err(error) if tool.spec().owner.is_trusted() => Err(CallError::Output(error)),
        Err(error) => Ok(Some(error.to_string())),
    }
}
