//! attacks = a chain of closures
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
let last = () => 0;
for (;;) { const inner = last; last = () => inner; }
