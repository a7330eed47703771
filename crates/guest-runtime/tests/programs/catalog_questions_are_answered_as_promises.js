//! expect.value = ["openclaw:core:echo",{"id":"x","parameters":{}},["openclaw:core:echo","openclaw:core:fail"],"mcp/index.d.ts","declare const MCP: unknown;"]
//! expect.calls = ["? {\"op\":\"tools.search\",\"query\":\"an echo\",\"limit\":3}","? {\"op\":\"tools.describe\",\"id\":\"x\"}","? {\"op\":\"api.list\",\"prefix\":\"mcp\"}","? {\"op\":\"api.read\",\"path\":\"mcp/index.d.ts\"}","? {\"op\":\"tools.all\"}"]
const [found] = await tools.search("an echo", { limit: 3 });
const described = await tools.describe("x");
const [file] = await API.list("mcp");
const text = await API.read(file.path);
return [found.id, described, ALL_TOOLS.map((tool) => tool.id), file.path, text];
