//! attacks = a constructor that constructs itself
//! expect.value = "RangeError"
class Again { constructor() { Reflect.construct(Again, [], Again); } }
try { return new Again(); } catch (error) { return error.name; }
