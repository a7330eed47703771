//! expect.value = []
//! expect.unhandled = ["nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn… (at least 4194048 more bytes): m @3:19","Error: m"]
const named = new Error("m");
named.name = "n".repeat(4 << 20);
Promise.reject(named);
Promise.reject({ message: "m", code: "c".repeat(4 << 20), details: "d".repeat(4 << 20) });
return [];
