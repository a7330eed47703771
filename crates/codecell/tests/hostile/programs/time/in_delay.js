//! attacks = a loop in the delay of a timer
//! expect.code = timeout
setTimeout(() => {}, { valueOf() { for (;;); } });
