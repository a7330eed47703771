//! expect.stuck = true
await new Promise(() => {});
