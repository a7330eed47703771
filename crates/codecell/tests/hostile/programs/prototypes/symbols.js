//! attacks = the symbols that steer the language
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
for (const name of ["toPrimitive", "toStringTag", "isConcatSpreadable", "unscopables", "species", "iterator", "asyncIterator", "hasInstance"]) {
  Object.defineProperty(Object.prototype, Symbol[name], { configurable: true, get() { throw new Error(name); }, set() { throw new Error(name); } });
}
const read = (value) => value;
const made = {};
made.a = await tools.echo({ x: { a: [1, "b"], c: null } });
made.b = (await tools.call("openclaw:core:echo", { x: 2 })).result.details;
made.c = (await MCP.fixtureServer.echo({ x: 3 })).structuredContent;
made.d = (await tools.search("echo", { limit: 1 }))[0].id;
made.e = (await tools.describe("openclaw:core:echo")).name;
return [made.a, made.b, made.c, made.d, made.e].map(read);
