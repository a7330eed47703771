//! attacks = ten thousand functions bound to each other
//! expect.value = "RangeError"
//! memory_bytes = 67108864
let bound = () => 1;
for (let i = 0; i < 1e4; i++) bound = Object.defineProperty(bound.bind(null), "name", { value: "" });
try { return bound(); } catch (error) { return error.name; }
