//! expect.value = [{"asked":{"op":"mcp.api","server":"github","tool":"createIssue","schema":true}},{"asked":{"op":"mcp.api","server":"github","schema":false}},{"asked":{"op":"mcp.api","schema":false}}]
return [await MCP.github.$api("createIssue", { schema: true }), await MCP.github.$api(), await MCP.$api()];
