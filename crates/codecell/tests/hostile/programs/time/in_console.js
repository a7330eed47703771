//! attacks = a loop while the console shows a value
//! expect.code = timeout
console.log(new Proxy({}, { ownKeys() { for (;;); }, get() { for (;;); } }));
for (;;);
