//! attacks = an async generator that yields from itself
//! expect.value = "RangeError"
async function* again() { yield* again(); }
try { for await (const one of again()) text(one); } catch (error) { return error.name; }
