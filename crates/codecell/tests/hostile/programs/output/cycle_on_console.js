//! attacks = a value that contains itself, on the console
//! expect.value = null
//! expect.output = ["{ name: \"loop\", self: [Circular] }"]
const loop = { name: "loop" };
loop.self = loop;
console.log(loop);
