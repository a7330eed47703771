//! attacks = promises that nobody settles
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const all = [];
for (;;) all.push(new Promise(() => {}).then(() => all));
