//! attacks = names of properties, which the engine interns
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const names = {};
for (let i = 0; ; i++) names[`name ${i} ${"x".repeat(200)}`] = i;
