//! expect.value = "RangeError"
function again() { return "x".replace(/x/, again); }
try { again(); } catch (error) { return error.name; }
