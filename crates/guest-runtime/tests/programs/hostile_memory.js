//! expect.fault = memory
const kept = [];
for (;;) try { kept.push(new Array(1e5).fill(1)); } catch {}
