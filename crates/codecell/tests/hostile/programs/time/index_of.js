//! attacks = a built-in that looks through four thousand million holes
//! expect.code = timeout
for (;;) { const holes = []; holes.length = 2 ** 32 - 1; holes.lastIndexOf(1); }
