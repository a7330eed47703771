//! timeout_ms = 300
//! expect.fault = deadline
for (;;) try { Array(2 ** 32 - 1).join("x"); } catch {}
