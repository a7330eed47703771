//! attacks = names of the prelude, declared again
//! expect.value = [1,2,3,4]
var tools = 1, text = 2;
function json() { return 3; }
const MCP = 4;
return [tools, text, json(), MCP];
