//! attacks = the globals, replaced by other ones
//! expect.value = [false,false,false,false,false,false,false,false,false,1]
const names = ["tools", "ALL_TOOLS", "API", "MCP", "namespaces", "text", "json", "yield_control"];
const tried = names.map((name) => Reflect.defineProperty(globalThis, name, { value: 1 }));
tools = text = json = yield_control = MCP = null;
return [...tried, Reflect.set(globalThis, "tools", 1), await tools.echo({ x: 1 })];
