//! `mcp/index.d.ts`: shared types, and which servers there are.

use codecell_catalog::schema::comment;

/// What the index says of a server.
#[derive(Debug, Clone)]
pub struct ServerSummary<'a> {
    /// Name under `MCP`.
    pub identifier: &'a str,
    /// Name in the configuration; any text.
    pub server_name: &'a str,
    /// How many tools it has.
    pub tools: usize,
    /// Whether it serves resources.
    pub resources: bool,
    /// Whether it serves prompts.
    pub prompts: bool,
    /// Anything but "ready", such as "connecting"; empty otherwise.
    pub state: &'a str,
}

/// Longest server name and state shown.
const MAX_NAME_CHARS: usize = 80;

/// Types that every server file uses, and the functions beside the servers.
const SHARED: &str = r#"type McpContent =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; mimeType?: string }
  | { type: "resource"; resource: McpResourceContents };
type McpResourceContents = { uri: string; mimeType?: string; text?: string; blob?: string };
/** `structuredContent` is T when the tool declares its output; absent when `isError` is true. */
type McpToolResult<T = unknown> = { content: McpContent[]; structuredContent: T; isError?: boolean };
type McpResources = {
  resources: { uri: string; name: string; title?: string; description?: string; mimeType?: string }[];
  resourceTemplates?: { uriTemplate: string; name: string; description?: string; mimeType?: string }[];
  nextCursor?: string;
};
type McpPrompts = {
  prompts: { name: string; description?: string; arguments?: { name: string; description?: string; required?: boolean }[] }[];
  nextCursor?: string;
};
type McpPrompt = { description?: string; messages: { role: "user" | "assistant"; content: McpContent }[] };
type McpApiHeader = {
  kind: "mcp_api";
  scope: "root" | "server" | "tool";
  /** Declarations, as in these files. */
  header: string;
  server?: { identifier: string; serverName: string };
  servers?: { identifier: string; serverName: string; toolCount: number }[];
  tools?: { method: string; path: string; mcpTool: string; operation: string; description: string }[];
  schemas?: Record<string, { inputSchema: unknown; outputSchema?: unknown }>;
  note: string;
};
type McpSearchHit = { path: string; server: string; tool: string; description: string; input: string };
declare namespace MCP {
  /** Finds tools of all servers; `path` is what to call. */
  function $search(query: string, options?: { limit?: number }): Promise<McpSearchHit[]>;
  /** The servers, or one of them. */
  function $api(server?: string, options?: { schema?: boolean }): Promise<McpApiHeader>;
}
"#;

/// The text of `mcp/index.d.ts`.
#[must_use]
pub fn index_file(servers: &[ServerSummary<'_>]) -> String {
    let mut out = String::from(
        "// Call a tool: const r = await MCP.<server>.<tool>({ ... }); read r.structuredContent or r.content.\n\
         // Its declaration: await API.read(\"mcp/<server>.d.ts\"), or (await MCP.<server>.$api(\"<tool>\")).header.\n\
         // Raw JSON Schemas: JSON.parse(await API.read(\"mcp/<server>.schema.json\")).<tool>.inputSchema.\n\
         // Integers beyond 2^53 are BigInt in both directions.\n",
    );
    out.push_str(SHARED);
    if servers.is_empty() {
        out.push_str("// No MCP servers.\n");
        return out;
    }
    out.push_str("// Servers:\n");
    for server in servers {
        let mut facts = vec![format!(
            "{} tool{}",
            server.tools,
            if server.tools == 1 { "" } else { "s" }
        )];
        if server.resources {
            facts.push("resources".to_owned());
        }
        if server.prompts {
            facts.push("prompts".to_owned());
        }
        if !server.state.is_empty() {
            facts.push(comment(server.state, MAX_NAME_CHARS));
        }
        let name = comment(server.server_name, MAX_NAME_CHARS);
        let named = if name == server.identifier {
            String::new()
        } else {
            format!(" ({name})")
        };
        out.push_str(&format!(
            "// - MCP.{}{named}: {}\n",
            server.identifier,
            facts.join(", ")
        ));
    }
    out
}
