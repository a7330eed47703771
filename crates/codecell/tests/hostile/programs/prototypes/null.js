//! attacks = prototypes that have none, or another
//! expect.value = [{"a":[1,"b"],"c":null},2,3,"openclaw:core:echo","echo"]
for (const one of [Array, Function, Promise, Error, Map, String, Symbol]) Object.setPrototypeOf(one.prototype, null);
let refused;
try { Object.setPrototypeOf(Object.prototype, new Proxy({}, { get() { throw new TypeError("trap"); } })); } catch (error) { refused = true; }
if (!refused) return "the prototype of every object was changed";
const made = [
  await tools.echo({ x: { a: [1, "b"], c: null } }),
  (await tools.call("openclaw:core:echo", { x: 2 })).result.details,
  (await MCP.fixtureServer.echo({ x: 3 })).structuredContent,
  (await tools.search("echo", { limit: 1 }))[0].id,
  (await tools.describe("openclaw:core:echo")).name,
];
return made;
