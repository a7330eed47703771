//! attacks = the decimal digits of a BigInt
//! expect.code = timeout
const big = 3n ** 500000n;
for (;;) String(big).length;
