use serde::Serialize;
use serde_json::{Value, json};

use crate::prompt::{ExecPrompt, Languages};

/// Name of the tool that runs a cell.
pub const EXEC: &str = "exec";

/// Name of the tool that continues one.
pub const WAIT: &str = "wait";

/// A tool as the model's provider or an MCP host is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDescriptor {
    /// What the model calls it.
    pub name: &'static str,
    /// What the model reads of it.
    pub description: String,
    /// JSON Schema of the arguments: one flat object, every property typed, no combinators.
    pub input_schema: Value,
    /// JSON Schema of the result, equally flat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// MCP's hints.
    pub annotations: Value,
}

/// `exec`, described for what one run has.
#[must_use]
pub fn exec_descriptor(prompt: &ExecPrompt<'_>) -> ToolDescriptor {
    ToolDescriptor {
        name: EXEC,
        description: prompt.to_string(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "code": { "type": "string", "description": "The program: the body of an async function." },
                "command": { "type": "string", "description": "Another name for code; give one of the two." },
                "language": language(prompt.languages),
                "restartSafe": {
                    "type": "boolean",
                    "description": "True refuses every call that has side effects.",
                },
            },
        }),
        output_schema: Some(result_schema()),
        annotations: json!({
            "title": "Run a program that calls tools",
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": false,
            "openWorldHint": true,
        }),
    }
}

/// `wait`, the same for every run.
#[must_use]
pub fn wait_descriptor() -> ToolDescriptor {
    ToolDescriptor {
        name: WAIT,
        description: "Continue a program that `exec` or `wait` answered with status \"waiting\". Give its runId; the \
                      answer has the same form, with only the output that is new. Tools go on working in between; \
                      call again while the status is \"waiting\"."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "runId": { "type": "string", "description": "The runId of the waiting program." },
            },
            "required": ["runId"],
        }),
        output_schema: Some(result_schema()),
        annotations: json!({
            "title": "Continue a waiting program",
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": false,
            "openWorldHint": true,
        }),
    }
}

fn language(languages: Languages) -> Value {
    match languages {
        Languages::Both => {
            json!({ "type": "string", "enum": ["javascript", "typescript"], "default": "javascript" })
        }
        Languages::JavaScriptOnly => {
            json!({ "type": "string", "enum": ["javascript"], "default": "javascript" })
        }
        // Absent means JavaScript everywhere, so here it has to be given.
        Languages::TypeScriptOnly => json!({
            "type": "string",
            "enum": ["typescript"],
            "description": "Must be given: only TypeScript is enabled.",
        }),
    }
}

/// The three forms of a result as one flat object, since hosts dislike unions.
fn result_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "string", "enum": ["completed", "waiting", "failed"] },
            "value": { "description": "What the program returned, when completed." },
            "output": { "type": "array", "items": { "type": "object" } },
            "warnings": { "type": "array", "items": { "type": "object" } },
            "runId": { "type": "string", "description": "What wait takes, when waiting." },
            "reason": { "type": "string", "enum": ["pending_tools", "yield"] },
            "pendingToolCalls": { "type": "array", "items": { "type": "object" } },
            "error": { "type": "string", "description": "What went wrong, when failed." },
            "code": { "type": "string" },
            "telemetry": { "type": "object" },
        },
        "required": ["status"],
    })
}
