//! attacks = names that every object has, on objects that have none
//! expect.value = []
const objects = { tools, MCP, API, server: MCP.fixtureServer, namespaces };
const wrong = [];
for (const [name, object] of Object.entries(objects)) {
  for (const key of ["constructor", "__proto__", "hasOwnProperty", "valueOf", "isPrototypeOf", "__defineGetter__"]) {
    if (object[key] !== undefined) wrong.push(`${name}.${key}`);
  }
  if (Object.getPrototypeOf(object) !== null) wrong.push(`${name} has a prototype`);
}
return wrong;
