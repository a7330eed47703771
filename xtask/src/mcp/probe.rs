//! The built-in server of `cargo xtask mcp-server`: one tool per thing that can happen to a call.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

use super::server::{Call, Failure, Outcome};

/// How the probe counts effects: a call that ran twice shows.
#[derive(Default)]
pub(super) struct Effects {
    bumps: AtomicU64,
}

/// The picture that `take_picture` returns: one black pixel, as PNG.
pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

/// Pause between two progress notifications, so that they arrive as separate events.
const PROGRESS_PAUSE: Duration = Duration::from_millis(20);

/// What the probe would have been dumped as.
pub(super) fn dump() -> Value {
    let tool = |name: &str, description: &str, properties: Value, required: Value| {
        json!({
            "name": name,
            "description": description,
            "inputSchema": { "type": "object", "properties": properties, "required": required, "additionalProperties": false }
        })
    };
    let number = json!({ "type": "integer", "minimum": 0 });
    let mut echo = tool(
        "echo_value",
        "Returns the value it was given.",
        json!({ "value": {} }),
        json!(["value"]),
    );
    echo["annotations"] = json!({ "readOnlyHint": true });
    echo["outputSchema"] = json!({ "type": "object", "properties": { "value": {} }, "required": ["value"] });
    json!({
        "server": "probe",
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": { "listChanged": false } },
            "serverInfo": { "name": "probe", "version": "1" },
            "instructions": "Every tool shows one thing that can happen to a call."
        },
        "tools": [
            echo,
            tool("slow_value", "Waits, then returns the value.", json!({ "ms": number, "value": {} }), json!(["ms"])),
            tool("bump_counter", "Adds one to a counter.", json!({ "key": { "type": "string" } }), json!(["key"])),
            tool("fail_call", "Fails in the asked way.", json!({ "kind": { "enum": ["result", "protocol"] } }), json!(["kind"])),
            tool("crash_server", "Ends the server in the middle of the call.", json!({}), json!([])),
            tool("report_progress", "Reports progress some times.", json!({ "steps": number }), json!(["steps"])),
            tool("take_picture", "Returns a picture of one pixel.", json!({}), json!([])),
            tool("many_bytes", "Returns a text of the asked size.", json!({ "bytes": number }), json!(["bytes"]))
        ]
    })
}

/// Carries one call to its outcome.
pub(super) fn call(call: &Call<'_>, effects: &Effects) -> Outcome {
    let arguments = call.arguments;
    let number = |key: &str| arguments[key].as_u64().unwrap_or(0);
    match call.tool {
        "echo_value" => structured(json!({ "value": arguments["value"] })),
        "slow_value" => {
            if call.cancelled_within(Duration::from_millis(number("ms"))) {
                return Err(Failure::Cancelled);
            }
            structured(json!({ "value": arguments["value"] }))
        }
        "bump_counter" => structured(
            json!({ "key": arguments["key"], "count": effects.bumps.fetch_add(1, Ordering::SeqCst) + 1 }),
        ),
        "fail_call" if arguments["kind"] == "protocol" => Err(Failure::Rpc {
            code: -32603,
            message: "asked to fail".into(),
            data: None,
        }),
        "fail_call" => {
            Ok(json!({ "content": [{ "type": "text", "text": "asked to fail" }], "isError": true }))
        }
        "crash_server" => Err(Failure::Exit(3)),
        "report_progress" => {
            let steps = number("steps");
            for step in 1..=steps {
                call.progress(step, steps);
                if call.cancelled_within(PROGRESS_PAUSE) {
                    return Err(Failure::Cancelled);
                }
            }
            structured(json!({ "steps": steps }))
        }
        "take_picture" => {
            Ok(json!({ "content": [{ "type": "image", "data": PIXEL, "mimeType": "image/png" }] }))
        }
        "many_bytes" => {
            let text = "x".repeat(usize::try_from(number("bytes")).unwrap_or(0));
            Ok(json!({ "content": [{ "type": "text", "text": text }] }))
        }
        other => Err(Failure::Rpc {
            code: -32602,
            message: format!("unknown tool `{other}`"),
            data: None,
        }),
    }
}

fn structured(value: Value) -> Outcome {
    Ok(json!({ "content": [{ "type": "text", "text": value.to_string() }], "structuredContent": value }))
}
