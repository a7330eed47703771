//! attacks = a generator that yields from itself
//! expect.value = "RangeError"
function* again() { yield* again(); }
try { return [...again()]; } catch (error) { return error.name; }
