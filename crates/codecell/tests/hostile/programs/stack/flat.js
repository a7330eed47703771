//! attacks = an array inside itself, flattened
//! expect.value = "RangeError"
const loop = [];
loop.push(loop);
try { return loop.flat(Infinity).length; } catch (error) { return error.name; }
