//! attacks = a loop in the then of a result
//! expect.code = timeout
return { then() { for (;;); } };
