//! attacks = alternatives that are the same
//! expect.code = timeout
return /^(a|a)*$/.test("a".repeat(40) + "b");
