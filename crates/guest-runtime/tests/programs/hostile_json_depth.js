//! expect.value = ["SyntaxError or RangeError","still alive"]
let name;
try { JSON.parse("[".repeat(1e5)); } catch (error) { name = error.name; }
return [/^(SyntaxError|RangeError)$/.test(name) ? "SyntaxError or RangeError" : name, "still alive"];
