//! attacks = a string put together from thousands of pieces on both sides
//! expect.value = [40001,"a","b","c"]
let rope = "c";
for (let i = 0; i < 2e4; i++) rope = "a" + rope + "b";
return [rope.length, rope[0], rope.at(-1), rope[2e4]];
