//! attacks = what arrays do
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
for (const name of Object.getOwnPropertyNames(Array.prototype)) {
  if (name !== "length" && name !== "constructor") Array.prototype[name] = () => { throw new Error(name); };
}
Array.prototype[Symbol.iterator] = function* () { yield "forged"; };
Array[Symbol.species] = Array.from = Array.of = Array.isArray = () => { throw new Error("Array"); };
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
return made;
