//! attacks = how functions are called
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error("call"); };
Function.prototype[Symbol.hasInstance] = () => { throw new Error("instanceof"); };
for (const name of Object.getOwnPropertyNames(Reflect)) Reflect[name] = () => { throw new Error(name); };
for (const name of Object.getOwnPropertyNames(Object)) {
  if (typeof Object[name] === "function" && name !== "prototype") Object[name] = () => { throw new Error(name); };
}
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
return made;
