//! attacks = an instanceof that needs itself
//! expect.value = "RangeError"
const loop = { [Symbol.hasInstance]: (value) => value instanceof loop };
try { return 1 instanceof loop; } catch (error) { return error.name; }
