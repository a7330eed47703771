//! attacks = recursion that nobody catches
//! expect.code = internal_error
//! expect.begins = RangeError: Maximum call stack size exceeded
function down() { return down() + 1; }
return down();
