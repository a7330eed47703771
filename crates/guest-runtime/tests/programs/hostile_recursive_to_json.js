//! expect.value = "RangeError"
const value = { toJSON() { json(value); } };
try { json(value); } catch (error) { return error.name; }
