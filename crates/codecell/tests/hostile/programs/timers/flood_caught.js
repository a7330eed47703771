//! attacks = timers without end, with a catch around each
//! expect.code = timeout
for (;;) try { setTimeout(() => {}, 1e6); } catch {}
