//! attacks = a flood that begins with an answer
//! expect.code = timeout
await tools.echo({ x: 1 });
for (;;) await null;
