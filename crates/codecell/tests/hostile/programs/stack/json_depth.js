//! attacks = JSON text of a hundred thousand levels
//! expect.value = "RangeError"
//! memory_bytes = 67108864
try { return typeof JSON.parse("[".repeat(1e5) + "]".repeat(1e5)); } catch (error) { return error.name; }
