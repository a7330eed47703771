//! expect.value = [1,2]
const tools = 1;
let MCP = 2;
return [tools, MCP];
