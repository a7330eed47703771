//! attacks = back references to what can be anything
//! expect.code = timeout
return /^(a*)*\1*\1*\1*b$/.test("a".repeat(50));
