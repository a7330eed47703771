//! attacks = a loop in the id of a tool
//! expect.value = "TypeError: tools.callValue(id, input): the id must be a string, got object"
//! expect.started = 0
try { return await tools.callValue({ toString() { for (;;); } }); } catch (error) { return `${error.name}: ${error.message}`; }
