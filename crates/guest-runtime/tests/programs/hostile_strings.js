//! expect.fault = memory
const kept = [];
for (let i = 0; ; i++) kept.push("x".repeat(1000000) + i);
