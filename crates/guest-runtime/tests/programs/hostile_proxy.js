//! expect.value = "RangeError"
const proxy = new Proxy({}, { get: (target, key, self) => self[key] });
try { proxy.x; } catch (error) { return error.name; }
