//! attacks = as many timers of no time as there may be, and again as many
//! expect.value = 2048
let fired = 0;
const all = () => Promise.all(Array.from({ length: 1024 }, () => new Promise((resolve) => setTimeout(() => { fired++; resolve(); }, 0))));
await all();
await all();
return fired;
