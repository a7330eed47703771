//! expect.value = ["RangeError",1]
function f() { return f(); }
let name;
try { f(); } catch (error) { name = error.name; }
return [name, 1];
