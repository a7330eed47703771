//! attacks = servers and tools that are not there
//! expect.value = ["undefined","undefined","undefined","undefined"]
return [typeof MCP.nobody, typeof MCP["fixture Server"], typeof MCP.fixtureServer.nothing, typeof MCP.__proto__];
