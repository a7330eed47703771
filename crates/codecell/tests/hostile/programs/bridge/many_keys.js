//! attacks = an object of a hundred thousand members, there and back
//! expect.value = 100000
//! memory_bytes = 67108864
const x = Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [`k${i}`, i]));
return Object.keys(await tools.echo({ x })).length;
