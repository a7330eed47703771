//! Turns plain MCP metadata into TypeScript declarations that a model reads and a compiler accepts.
//!
//! Text in, text out: this crate talks to no server, knows no MCP library and keeps nothing. Names are given;
//! it never invents or changes one. Descriptions and schemas come from strangers and end up as inert text of
//! bounded size.
//!
//! ```
//! use codecell_mcp_decls::{ServerMeta, ToolMeta, server_file};
//! use serde_json::json;
//!
//! let input = json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] });
//! let server = ServerMeta {
//!     tools: vec![ToolMeta::new("createIssue", "create_issue", "Create an issue.", &input)],
//!     ..ServerMeta::new("github", "github")
//! };
//! let text = server_file(&server);
//! assert!(text.contains("function createIssue(input: { title: string }): Promise<McpToolResult>;"));
//! ```

mod definitions;
mod index;
mod meta;
mod schemas;
mod server;
mod told;

pub use crate::{
    index::{ServerSummary, index_file},
    meta::{ServerMeta, ToolMeta},
    schemas::schemas_file,
    server::{server_file, tool_header},
};
