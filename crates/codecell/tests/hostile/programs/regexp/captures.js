//! attacks = more groups than the engine can count
//! expect.value = "SyntaxError"
try { return new RegExp("(a)".repeat(70000)).exec("a").length; } catch (error) { return error.name; }
