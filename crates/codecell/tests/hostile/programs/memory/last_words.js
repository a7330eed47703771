//! attacks = code that runs when memory has run out
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const kept = [];
const grow = () => { for (;;) kept.push(new Uint8Array(65536)); };
try { grow(); } catch { kept.length = 0; return "caught"; } finally { kept.length = 0; text("last words"); }
