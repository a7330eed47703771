//! What the renderers get to see of a server.

use serde_json::Value;

/// One server and its tools.
#[derive(Debug, Clone)]
pub struct ServerMeta<'a> {
    /// Name under `MCP`, an identifier.
    pub identifier: &'a str,
    /// Name in the configuration; any text.
    pub server_name: &'a str,
    /// Its tools, in the order they are declared.
    pub tools: Vec<ToolMeta<'a>>,
    /// Whether it serves resources.
    pub resources: bool,
    /// Whether it serves prompts.
    pub prompts: bool,
    /// What the server says about itself; untrusted.
    pub instructions: Option<&'a str>,
}

impl<'a> ServerMeta<'a> {
    /// A server without tools, resources, prompts or instructions.
    #[must_use]
    pub fn new(identifier: &'a str, server_name: &'a str) -> Self {
        Self {
            identifier,
            server_name,
            tools: Vec::new(),
            resources: false,
            prompts: false,
            instructions: None,
        }
    }
}

/// One tool, as received, and the name it is called by.
#[derive(Debug, Clone)]
pub struct ToolMeta<'a> {
    /// Name under the server, an identifier that may be declared as a function.
    pub method: &'a str,
    /// Name in the protocol; any text.
    pub mcp_name: &'a str,
    /// Title for people.
    pub title: Option<&'a str>,
    /// Description; may be empty.
    pub description: &'a str,
    /// JSON Schema of the arguments.
    pub input_schema: &'a Value,
    /// JSON Schema of `structuredContent`.
    pub output_schema: Option<&'a Value>,
    /// The server's hints about the tool.
    pub annotations: Option<&'a Value>,
}

impl<'a> ToolMeta<'a> {
    /// A tool without title, output schema or annotations.
    #[must_use]
    pub fn new(method: &'a str, mcp_name: &'a str, description: &'a str, input_schema: &'a Value) -> Self {
        Self {
            method,
            mcp_name,
            title: None,
            description,
            input_schema,
            output_schema: None,
            annotations: None,
        }
    }
}
