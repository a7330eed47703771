//! attacks = a sort inside its own comparator
//! expect.value = "RangeError"
const again = () => [2, 1].sort(again);
try { return again(); } catch (error) { return error.name; }
