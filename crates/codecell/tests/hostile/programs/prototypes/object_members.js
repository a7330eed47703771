//! attacks = members of every object, read and written, under the names that the wall uses
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
const { defineProperty } = Object;
for (const name of ["id", "op", "ok", "error", "get", "set", "value", "method", "target", "args", "path", "limit", "query", "name",
  "kind", "call", "array", "object", "state", "writable", "enumerable", "configurable", "__proto__x", "0", "length_"]) {
  defineProperty(Object.prototype, name, { __proto__: null, configurable: true, get() { throw new Error(name); }, set() { throw new Error(name); } });
}
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
return made;
