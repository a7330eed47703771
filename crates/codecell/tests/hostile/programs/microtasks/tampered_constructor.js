//! attacks = a constructor that throws when an await looks at it
//! expect.code = internal_error
//! expect.error = "Error: caught\n    at get (cell:5:64)"
const real = Promise.resolve(1);
Object.defineProperty(real, "constructor", { get() { throw new Error("caught"); } });
let told;
try { await real; } catch (error) { told = error.message; }
return [told, await tools.echo({ x: 2 })];
