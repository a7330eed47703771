//! attacks = text that is no base64, and far too much of it
//! expect.value = ["InvalidCharacterError","InvalidCharacterError","InvalidCharacterError",8000000]
//! memory_bytes = 67108864
const tries = [() => atob("a"), () => atob("\u0100"), () => btoa("\u0100"), () => btoa("x".repeat(6e6)).length];
return tries.map((one) => { try { return one(); } catch (error) { return error.name; } });
