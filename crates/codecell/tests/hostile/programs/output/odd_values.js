//! attacks = values that have no text
//! expect.value = null
//! expect.output = ["null","null","null","0","[object MCP]"]
text(undefined);
text(() => 1);
text(NaN);
text(-0);
text(`${MCP}`);
