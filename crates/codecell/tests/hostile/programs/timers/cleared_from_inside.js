//! attacks = a timer that clears itself and the next
//! expect.value = ["first","third"]
const fired = [];
const first = setTimeout(() => { fired.push("first"); clearTimeout(first); clearTimeout(second); }, 1);
const second = setTimeout(() => fired.push("second"), 5);
await new Promise((resolve) => setTimeout(() => { fired.push("third"); resolve(); }, 20));
return fired;
