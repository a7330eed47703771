//! attacks = a scope made of the tools
//! expect.value = [1,"function"]
with (tools) { return [await echo({ x: 1 }), typeof callValue]; }
