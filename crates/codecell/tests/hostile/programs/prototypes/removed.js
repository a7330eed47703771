//! attacks = every global that can be removed, removed
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
const everything = globalThis;
const { ownKeys, deleteProperty } = Reflect;
for (const key of ownKeys(everything)) deleteProperty(everything, key);
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
return made;
