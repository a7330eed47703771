//! attacks = timers that are cleared in every wrong way
//! expect.value = ["kept"]
const fired = [];
const kept = setTimeout(() => fired.push("kept"), 5);
for (const wrong of [undefined, null, NaN, -1, 0, 1.5e300, "1x", {}, [], Symbol.iterator, () => 1, 2 ** 32 + kept, kept + 1]) clearTimeout(wrong);
const gone = setTimeout(() => fired.push("gone"), 1);
clearTimeout(gone);
clearTimeout(gone);
await new Promise((resolve) => setTimeout(resolve, 20));
return fired;
