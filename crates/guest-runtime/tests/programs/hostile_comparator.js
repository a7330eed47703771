//! timeout_ms = 300
//! expect.fault = deadline
const list = Array.from({ length: 100000 }, (_, i) => i);
for (;;) list.sort(() => Math.random() - 0.5);
