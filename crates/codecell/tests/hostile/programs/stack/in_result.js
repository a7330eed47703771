//! attacks = recursion while the result is written
//! expect.code = internal_error
//! expect.begins = RangeError: Maximum call stack size exceeded
const down = () => down();
return { get list() { return down(); } };
