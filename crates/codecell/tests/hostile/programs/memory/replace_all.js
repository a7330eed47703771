//! attacks = a replacement that multiplies
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
return "a".repeat(1e5).replaceAll("a", "b".repeat(1e5)).length;
