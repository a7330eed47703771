//! attacks = a lookbehind that explodes
//! expect.code = timeout
return /(?<=^(a|a)*z)b/.test("x" + "a".repeat(40) + "zb");
