//! expect.value = ["object","function","object","object",true]
tools = 1; text = 2; MCP = 3; ALL_TOOLS = 4; delete globalThis.tools;
tools.search = 5;
const strict = (function () { "use strict"; try { tools.x = 1; return false; } catch { return true; } })();
return [typeof tools, typeof text, typeof MCP, typeof ALL_TOOLS, strict];
