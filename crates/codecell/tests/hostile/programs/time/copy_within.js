//! attacks = a built-in that moves what is not there
//! expect.code = timeout
return Array.prototype.copyWithin.call({ length: 2 ** 53 - 1, get 0() { return 1; } }, 1, 0);
