//! attacks = a length without elements
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
return Array.from({ length: 2 ** 31 }).length;
