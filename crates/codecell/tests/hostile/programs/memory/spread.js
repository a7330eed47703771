//! attacks = an iterator without an end, spread into arguments
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const without_end = { *[Symbol.iterator]() { for (;;) yield 1; } };
return Math.max(...without_end);
