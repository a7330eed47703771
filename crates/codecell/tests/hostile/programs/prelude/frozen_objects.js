//! attacks = what the prelude handed out, written to
//! expect.value = []
const wrong = [];
for (const [name, object] of Object.entries({ MCP, API, server: MCP.fixtureServer, resources: MCP.fixtureServer.resources, ALL_TOOLS, entry: ALL_TOOLS[0] })) {
  for (const key of [...Reflect.ownKeys(object), "left"].filter((one) => one !== "length")) {
    if (Reflect.set(object, key, () => "forged") || Reflect.deleteProperty(object, key) && key !== "left") wrong.push(`${name}.${String(key)}`);
  }
}
return wrong;
