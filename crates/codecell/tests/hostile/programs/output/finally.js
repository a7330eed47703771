//! attacks = text in a finally after too much of it
//! expect.code = output_limit_exceeded
//! expect.error = code mode output limit exceeded (65536 bytes for value, output and error together). Return and print less: filter or summarise the data in the program.
try { text("x".repeat(1e6)); } finally { text("after"); return "escaped"; }
