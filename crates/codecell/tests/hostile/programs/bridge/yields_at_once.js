//! attacks = a hundred yields at once
//! expect.value = [100,"yielded"]
const all = await Promise.all(Array.from({ length: 100 }, (_, i) => yield_control(`reason ${i}`)));
return [all.length, all[0].status];
