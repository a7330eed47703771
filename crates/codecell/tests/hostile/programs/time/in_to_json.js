//! attacks = a loop in the toJSON of a result
//! expect.code = timeout
return { toJSON() { for (;;); } };
