//! attacks = a program that asks for strictness
//! expect.value = ["undefined","ReferenceError"]
return (function () {
  "use strict";
  let name;
  try { left = 1; } catch (error) { name = error.name; }
  return [typeof this, name];
})();
