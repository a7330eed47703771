//! attacks = timers that nobody lives to see, and none awaits
//! expect.value = "done"
for (const delay of [Infinity, 2 ** 31, 2 ** 53, Number.MAX_VALUE, 1e9]) setTimeout(() => text("never"), delay);
return "done";
