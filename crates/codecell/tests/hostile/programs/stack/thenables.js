//! attacks = a promise resolved with a chain of a hundred thousand thenables
//! expect.value = "end"
//! memory_bytes = 67108864
let last = "end";
for (let i = 0; i < 1e5; i++) { const inner = last; last = { then(resolve) { resolve(inner); } }; }
return await last;
