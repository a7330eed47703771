//! attacks = a delay that sets timers while it is read
//! expect.value = "RangeError"
const delay = { valueOf() { setTimeout(() => {}, delay); return 0; } };
try { return typeof setTimeout(() => {}, delay); } catch (error) { return error.name; }
