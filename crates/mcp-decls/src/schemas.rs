//! `mcp/<server>.schema.json`: the schemas as the server sent them.

use serde_json::Value;

use crate::meta::ServerMeta;

/// Schemas by method, exactly as received: `{ "<method>": { "name", "inputSchema", "outputSchema"? } }`.
#[must_use]
pub fn schemas_file(server: &ServerMeta<'_>) -> String {
    let mut out = String::from("{");
    for (at, tool) in server.tools.iter().enumerate() {
        // One tool per line; the schemas are written without being copied first.
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&format!(
            "{}:{{\"name\":{}",
            json(&tool.method.into()),
            json(&tool.mcp_name.into())
        ));
        out.push_str(",\"inputSchema\":");
        out.push_str(&json(tool.input_schema));
        if let Some(schema) = tool.output_schema {
            out.push_str(",\"outputSchema\":");
            out.push_str(&json(schema));
        }
        out.push('}');
    }
    out.push_str("\n}\n");
    out
}

fn json(value: &Value) -> String {
    value.to_string()
}
