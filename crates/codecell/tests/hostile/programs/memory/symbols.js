//! attacks = symbols that are registered for ever
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const kept = [];
for (let i = 0; ; i++) kept.push(Symbol.for(`symbol ${i} ${"x".repeat(200)}`));
