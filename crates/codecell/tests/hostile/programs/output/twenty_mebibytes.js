//! attacks = a value of twenty mebibytes
//! expect.code = output_limit_exceeded
//! expect.error = code mode output limit exceeded (65536 bytes for value, output and error together). Return and print less: filter or summarise the data in the program.
//! memory_bytes = 134217728
return "x".repeat(20 << 20);
