//! attacks = a loop after the answer to a call
//! expect.code = timeout
//! expect.started = 1
await tools.echo({ x: 1 });
for (;;);
