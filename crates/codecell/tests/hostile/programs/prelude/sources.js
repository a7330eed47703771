//! attacks = the text and the callers of the host's functions
//! expect.value = []
const functions = { text, json, setTimeout, echo: tools.echo, search: tools.search, mcp: MCP.fixtureServer.echo, list: API.list, log: console.log };
const wrong = [];
for (const [name, one] of Object.entries(functions)) {
  if (/host|ask|append/.test(Function.prototype.toString.call(one)) && name !== "search" && name !== "list") wrong.push(`${name}: ${one}`);
  for (const key of ["caller", "arguments"]) try { if (one[key] != null) wrong.push(`${name}.${key}`); } catch {}
}
return wrong;
