//! attacks = functions of the host, called with new
//! expect.value = ["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]
return [text, json, tools.echo, tools.call, MCP.fixtureServer.echo, setTimeout].map((one) => {
  try { return typeof new one("a"); } catch (error) { return error.name; }
});
