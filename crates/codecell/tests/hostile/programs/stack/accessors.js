//! attacks = a getter and a setter that call each other
//! expect.value = "RangeError"
const loop = { get a() { return (this.a = 1); }, set a(_) { this.a; } };
try { return loop.a; } catch (error) { return error.name; }
