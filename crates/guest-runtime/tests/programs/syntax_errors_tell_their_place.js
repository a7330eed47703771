//! expect.error = SyntaxError: missing initializer for variable @3:9
const fine = 1;
const a b;
