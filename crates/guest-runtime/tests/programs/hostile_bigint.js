//! timeout_ms = 300
//! expect.fault = deadline
for (;;) 2n ** 1000000n * 3n ** 500000n;
