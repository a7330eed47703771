//! attacks = JSON.stringify inside its own replacer
//! expect.value = "RangeError"
const again = () => JSON.stringify([1], again);
try { return again(); } catch (error) { return error.name; }
