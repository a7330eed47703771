//! attacks = a result whose parts are shared, so that its text doubles at each level
//! expect.code = output_limit_exceeded
//! expect.error = code mode output limit exceeded (65536 bytes for value, output and error together). Return and print less: filter or summarise the data in the program.
let value = ["x"];
for (let i = 0; i < 60; i++) value = [value, value];
return value;
