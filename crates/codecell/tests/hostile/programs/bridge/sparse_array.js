//! attacks = an array of four thousand million holes
//! expect.value = "RangeError"
//! expect.started = 0
//! memory_bytes = 67108864
try { return (await tools.echo({ x: new Array(2 ** 32 - 1) })).length; } catch (error) { return error.name; }
