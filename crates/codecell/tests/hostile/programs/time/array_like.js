//! attacks = a built-in that looks through what has no end
//! expect.code = timeout
return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 0);
