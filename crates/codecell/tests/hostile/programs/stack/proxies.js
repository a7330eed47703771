//! attacks = a hundred thousand proxies of each other
//! expect.value = "RangeError"
//! memory_bytes = 67108864
let proxy = {};
for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {});
try { return proxy.x; } catch (error) { return error.name; }
