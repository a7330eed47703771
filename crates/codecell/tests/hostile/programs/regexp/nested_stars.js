//! attacks = stars inside stars, lazily
//! expect.code = timeout
return /^(([a-z])+?.)+?[A-Z]([a-z])+?$/.test("a".repeat(60));
