//! attacks = a loop where a result is asked whether it is a promise
//! expect.code = timeout
return { get then() { for (;;); } };
