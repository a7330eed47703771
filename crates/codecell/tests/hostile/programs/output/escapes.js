//! attacks = text that takes six times its length as JSON
//! expect.code = output_limit_exceeded
//! expect.error = code mode output limit exceeded (65536 bytes for value, output and error together). Return and print less: filter or summarise the data in the program.
return "\u0001".repeat(20000);
