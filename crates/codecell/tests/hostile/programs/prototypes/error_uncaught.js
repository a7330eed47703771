//! attacks = what errors are made of, before one is not caught
//! expect.code = internal_error
//! expect.error = "RangeError: mine\n    at cell:8:11"
Object.defineProperty(Error.prototype, "message", { get() { throw 1; } });
Object.defineProperty(Error.prototype, "name", { get() { throw 1; } });
Object.defineProperty(Error.prototype, "stack", { get() { throw 1; } });
Error.prototype.toString = () => { throw 1; };
throw new RangeError("mine");
