//! attacks = code that evaluates itself; it may be the parser that runs out of stack
//! expect.value = true
globalThis.again = () => eval("again()");
try { again(); } catch (error) { return error instanceof RangeError || error instanceof SyntaxError; }
