//! timeout_ms = 300
//! expect.fault = deadline
return /^(a+)+$/.test("a".repeat(40) + "b");
