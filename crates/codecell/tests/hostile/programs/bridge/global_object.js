//! attacks = the global object as an argument
//! expect.value = ["tools","ALL_TOOLS","API","namespaces","MCP"]
return Object.keys(await tools.echo({ x: globalThis }));
