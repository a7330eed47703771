//! attacks = a proxy above every array and function
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
const trap = new Proxy({ __proto__: Object.prototype }, {
  get(target, key, self) { if (key === "then" || key === "toJSON" || typeof key === "symbol") return Reflect.get(target, key, self); throw new Error(`read ${String(key)}`); },
  has() { throw new Error("has"); },
  set() { throw new Error("set"); },
});
Object.setPrototypeOf(Array.prototype, trap);
Object.setPrototypeOf(Promise.prototype, trap);
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
return made;
