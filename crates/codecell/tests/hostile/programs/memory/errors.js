//! attacks = errors with their stacks
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const all = [];
for (;;) try { null.x; } catch (error) { all.push([error, error.stack]); }
