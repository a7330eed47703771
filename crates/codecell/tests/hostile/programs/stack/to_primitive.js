//! attacks = a conversion that needs itself
//! expect.value = "RangeError"
const loop = { [Symbol.toPrimitive]() { return +this; } };
try { return loop * 2; } catch (error) { return error.name; }
