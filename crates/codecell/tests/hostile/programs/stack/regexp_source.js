//! attacks = a regular expression of a hundred thousand groups
//! expect.value = "SyntaxError"
try { return new RegExp("(".repeat(1e5) + ")".repeat(1e5)).source.length; } catch (error) { return error.name; }
