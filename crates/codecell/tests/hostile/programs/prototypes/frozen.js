//! attacks = everything frozen, before the globals are first used
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
const all = new Set();
const freeze = (value) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || all.has(value)) return;
  all.add(value);
  for (const key of Reflect.ownKeys(value)) {
    const { value: inner, get, set } = Reflect.getOwnPropertyDescriptor(value, key) ?? {};
    if (key !== "ALL_TOOLS" && key !== "MCP" && key !== "namespaces") [inner, get, set].forEach(freeze);
  }
  freeze(Reflect.getPrototypeOf(value));
  try { Object.freeze(value); } catch {}
};
freeze(globalThis);
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
return made;
