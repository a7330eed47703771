//! attacks = a loop of calls that are all refused
//! expect.code = timeout
for (;;) await tools.slow({ ms: "no number" }).catch(() => {});
