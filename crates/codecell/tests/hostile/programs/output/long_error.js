//! attacks = an error of twenty mebibytes
//! expect.code = internal_error
//! expect.begins = Error: xxx
//! memory_bytes = 134217728
throw new Error("x".repeat(20 << 20));
