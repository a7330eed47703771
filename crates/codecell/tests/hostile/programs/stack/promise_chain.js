//! attacks = a chain of fifty thousand promises, resolved from its end
//! expect.value = 50000
//! memory_bytes = 67108864
let last = Promise.resolve(0);
for (let i = 0; i < 5e4; i++) last = last.then((n) => n + 1);
return await last;
