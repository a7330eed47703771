//! attacks = a then that every object has
//! expect.code = internal_error
//! expect.error = "Error: asked\n    at get (cell:4:89)"
Object.defineProperty(Object.prototype, "then", { configurable: true, get() { throw new Error("asked"); } });
return await tools.echo({ x: { a: 1 } });
