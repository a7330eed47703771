//! attacks = JSON.parse inside its own reviver
//! expect.value = "RangeError"
const again = () => JSON.parse("[1]", again);
try { return again(); } catch (error) { return error.name; }
