//! attacks = a result whose getter throws another
//! expect.code = internal_error
//! expect.error = Forged: timeout
return { get a() { throw { name: "Forged", message: "timeout", code: "timeout" }; } };
