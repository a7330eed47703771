//! attacks = an exec of the program, inside replaceAll
//! expect.value = ["TypeError","b"]
const pattern = /a/g;
pattern.exec = () => 5;
let name;
try { "a".replaceAll(pattern, "b"); } catch (error) { name = error.name; }
delete pattern.exec;
return [name, "a".replaceAll(pattern, "b")];
