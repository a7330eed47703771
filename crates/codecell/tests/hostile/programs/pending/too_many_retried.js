//! attacks = five thousand calls, each tried again until it is made
//! expect.value = 5000
//! expect.started = 5000
let made = 0;
const one = async () => { for (;;) try { await tools.bump({ key: "n" }); made++; return; } catch { await tools.echo({ x: 1 }).catch(() => {}); } };
await Promise.all(Array.from({ length: 5000 }, () => tools.bump({ key: "n" }).then(() => made++, () => {})));
while (made < 5000) { await tools.bump({ key: "n" }); made++; }
return made;
