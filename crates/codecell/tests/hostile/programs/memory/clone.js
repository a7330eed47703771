//! attacks = a clone of what is already half of the memory
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const half = Array.from({ length: 1e5 }, (_, i) => ({ i, text: `${i}` }));
return structuredClone([half, half.map((one) => ({ ...one })), structuredClone(half)]).length;
