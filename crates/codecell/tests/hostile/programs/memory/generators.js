//! attacks = generators that stand still in the middle
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const all = [];
function* stands() { const kept = new Array(100).fill(1); yield kept; }
for (;;) { const one = stands(); one.next(); all.push(one); }
