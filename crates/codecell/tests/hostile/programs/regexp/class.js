//! attacks = a class of the whole of Unicode, a thousand times
//! expect.value = true
const all = "[" + "\\u{0}-\\u{10ffff}".repeat(1000) + "]";
return new RegExp(all, "u").test("x");
