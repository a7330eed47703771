//! attacks = an async function that calls itself before it waits
//! expect.value = "RangeError"
async function again() { await again(); }
try { return await again(); } catch (error) { return error.name; }
