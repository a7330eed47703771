//! attacks = matches that never move on
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const never = { exec: () => ({ 0: "", index: 0 }), flags: "g", global: true, lastIndex: 0 };
return RegExp.prototype[Symbol.replace].call(never, "a", "b");
