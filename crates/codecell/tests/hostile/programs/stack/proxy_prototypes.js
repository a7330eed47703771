//! attacks = a proxy that is its own prototype
//! expect.value = "RangeError"
const proxy = new Proxy({}, { getPrototypeOf: () => proxy });
const child = Object.setPrototypeOf({}, proxy);
Object.setPrototypeOf(proxy, new Proxy(child, {}));
try { return child.x; } catch (error) { return error.name; }
