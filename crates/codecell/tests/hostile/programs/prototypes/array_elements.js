//! attacks = setters where elements of arrays go
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
for (let i = 0; i < 8; i++) {
  Object.defineProperty(Array.prototype, i, { configurable: true, get: () => "forged", set() { throw new Error("set"); } });
}
const made = {};
made.a = await tools.echo({ x: { a: [1, "b"], c: null } });
made.b = (await tools.call("openclaw:core:echo", { x: 2 })).result.details;
made.c = (await MCP.fixtureServer.echo({ x: 3 })).structuredContent;
made.d = (await tools.search("echo", { limit: 1 }))[0].id;
made.e = (await tools.describe("openclaw:core:echo")).name;
for (let i = 0; i < 8; i++) delete Array.prototype[i];
return [made.a, made.b, made.c, made.d, made.e];
