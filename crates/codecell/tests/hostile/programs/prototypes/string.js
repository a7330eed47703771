//! attacks = what strings do
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
for (const name of Object.getOwnPropertyNames(String.prototype)) {
  if (name !== "length") String.prototype[name] = () => { throw new Error(name); };
}
String.prototype[Symbol.iterator] = String.raw = String.fromCharCode = () => { throw new Error("String"); };
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
return made;
