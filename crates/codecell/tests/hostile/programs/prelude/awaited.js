//! attacks = the objects of the prelude, awaited, spread and turned into text
//! expect.value = [true,true,true,"[object tools]","[object MCP]","[object API]"]
//! expect.started = 0
const awaited = [(await tools) !== undefined, (await MCP) !== undefined, (await MCP.fixtureServer) !== undefined];
for (const one of [tools, MCP, API, MCP.fixtureServer]) { ({ ...one }); Object.entries(one); JSON.stringify(one); }
return [...awaited, `${tools}`, `${MCP}`, `${API}`];
