//! attacks = clones of what cannot be cloned
//! expect.value = ["DataCloneError","DataCloneError","DataCloneError","DataCloneError","DataCloneError","Error","RangeError"]
let deep = [];
for (let i = 0; i < 1e4; i++) deep = [deep];
const tries = [() => 1, Symbol("s"), tools.echo, new WeakMap(), Promise.resolve(), { get a() { throw new Error("mine"); } }, deep];
return tries.map((one) => { try { return typeof structuredClone(one); } catch (error) { return error.name; } });
