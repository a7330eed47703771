//! attacks = values without end
//! expect.code = output_limit_exceeded
//! expect.error = code mode output limit exceeded (65536 bytes for value, output and error together). Return and print less: filter or summarise the data in the program.
for (let i = 0; ; i++) json({ i });
