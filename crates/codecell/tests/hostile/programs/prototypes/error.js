//! attacks = what errors are made of, before a call fails
//! expect.value = ["Error","the tool threw","upstream_error",{"status":422,"body":"no such user"}]
//! expect.started = 1
const { defineProperty } = Object;
for (const name of ["message", "stack", "code", "details", "toString", "cause"]) {
  defineProperty(Error.prototype, name, { configurable: true, get() { throw new TypeError(name); }, set() { throw new TypeError(name); } });
}
globalThis.Error = globalThis.TypeError = function () { throw 1; };
try { await tools.fail({ kind: "throw" }); } catch (error) { return [error.name, error.message, error.code, error.details]; }
