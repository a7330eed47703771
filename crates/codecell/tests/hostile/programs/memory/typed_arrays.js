//! attacks = typed arrays that grow, and a finally that would return
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const kept = [];
try { for (;;) kept.push(new Float64Array(1e5).fill(1)); } finally { return "escaped"; }
