//! attacks = a species that is no promise
//! expect.value = "TypeError"
const real = Promise.resolve(1);
real.constructor = { [Symbol.species]: function (run) { run(() => {}, undefined); } };
try { return await real.then((n) => n); } catch (error) { return error.name; }
