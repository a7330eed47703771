//! attacks = a proxy of an array with a length of its own
//! expect.value = "RangeError"
//! expect.started = 0
//! memory_bytes = 67108864
const long = new Proxy([], { get: (target, key) => (key === "length" ? 2 ** 53 - 1 : target[key]) });
try { return (await tools.echo({ x: long })).length; } catch (error) { return error.name; }
