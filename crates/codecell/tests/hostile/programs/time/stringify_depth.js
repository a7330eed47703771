//! attacks = a value of thirty thousand levels, whose text the engine makes in quadratic time
//! expect.code = timeout
//! memory_bytes = 67108864
let value = [];
for (let i = 0; i < 3e4; i++) value = [value];
for (;;) try { JSON.stringify(value); } catch {}
