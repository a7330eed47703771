//! attacks = a toString that needs itself
//! expect.value = "RangeError"
const loop = { toString() { return `${this}`; } };
try { return `${loop}`; } catch (error) { return error.name; }
