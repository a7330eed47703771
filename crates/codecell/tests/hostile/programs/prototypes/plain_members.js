//! attacks = members of every object, as plain values
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
const { defineProperty } = Object;
for (const name of ["id", "op", "ok", "error", "get", "limit", "method", "target", "args", "path", "schema", "call", "value", "array", "then_"]) {
  Object.prototype[name] = "forged";
}
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
for (const name of Object.keys(Object.prototype)) delete Object.prototype[name];
return made;
