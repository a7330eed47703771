//! attacks = calls that make calls when they are answered
//! expect.value = 1023
//! expect.started = 1023
let made = 0;
const grow = async (depth) => { made++; await tools.echo({ x: depth }); if (depth > 0) await Promise.all([grow(depth - 1), grow(depth - 1)]); };
await grow(9);
return made;
