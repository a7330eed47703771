//! attacks = functions made of text that make themselves; it may be the parser that runs out of stack
//! expect.value = true
globalThis.again = () => Function("return again()")();
try { again(); } catch (error) { return error instanceof RangeError || error instanceof SyntaxError; }
