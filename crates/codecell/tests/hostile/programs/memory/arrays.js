//! attacks = arrays that grow, with a catch around every step
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const kept = [];
for (;;) try { kept.push(new Array(1e5).fill(kept.length)); } catch {}
