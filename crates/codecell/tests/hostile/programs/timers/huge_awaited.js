//! attacks = a timer that nobody lives to see, and that is awaited
//! expect.waiting = pending_tools
//! timeout_ms = 1000
await new Promise((resolve) => setTimeout(resolve, Infinity));
