//! attacks = text that JSON.stringify makes of shared parts
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
let value = "x".repeat(100);
for (let i = 0; i < 30; i++) value = [value, value];
return JSON.stringify(value).length;
