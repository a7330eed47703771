//! attacks = the functions on the stack, by way of an error
//! expect.value = [[],"undefined"]
let frames;
Error.prepareStackTrace = (_, sites) => { frames = sites; return "forged"; };
const seen = [];
const spy = { get limit() { seen.push(new Error("x").stack); return 1; } };
await tools.search("echo", spy);
try { await tools.search("echo", { get limit() { throw new Error("mine"); } }); } catch (error) { seen.push(error.stack); }
return [seen.filter((stack) => /prelude|wasm|\.rs|\//.test(stack)), typeof frames];
