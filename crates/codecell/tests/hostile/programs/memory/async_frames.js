//! attacks = async functions that wait for each other
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const never = new Promise(() => {});
const all = [];
const waits = async () => { const kept = new Array(50).fill(0); await never; return kept; };
for (;;) all.push(waits());
