//! attacks = what promises do
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
for (const name of ["then", "catch", "finally"]) Promise.prototype[name] = () => { throw new Error(name); };
for (const name of ["resolve", "reject", "all", "race", "withResolvers"]) Promise[name] = () => { throw new Error(name); };
Object.defineProperty(Promise, Symbol.species, { get() { throw new Error("species"); } });
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
return made;
