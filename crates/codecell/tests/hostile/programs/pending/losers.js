//! attacks = thousands of losers of one race
//! expect.value = "first"
const all = Array.from({ length: 2000 }, (_, i) => (i === 1 ? tools.echo({ x: "first" }) : tools.slow({ ms: 1, v: i })));
return await Promise.race([all[1], ...all.map((one) => one.catch(() => new Promise(() => {})))]);
