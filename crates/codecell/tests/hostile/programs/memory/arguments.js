//! attacks = an argument whose parts are shared, so that its text doubles at each level
//! expect.value = "RangeError: the arguments are at least 8388709 bytes of JSON, more than the limit of 8388608"
//! expect.started = 0
//! memory_bytes = 67108864
let value = "x".repeat(100);
for (let i = 0; i < 30; i++) value = [value, value];
try { return await tools.echo({ x: value }); } catch (error) { return `${error.name}: ${error.message}`; }
