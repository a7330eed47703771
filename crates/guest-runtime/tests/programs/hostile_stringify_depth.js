//! expect.value = "still alive"
let value = [];
for (let i = 0; i < 10000; i++) value = [value];
try { JSON.stringify(value); } catch {}
return "still alive";
