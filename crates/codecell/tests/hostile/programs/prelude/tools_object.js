//! attacks = the object of the tools, changed in every way there is
//! expect.value = [false,false,false,false,false,false,"TypeError","function",1]
const tried = [
  Reflect.set(tools, "echo", 1), Reflect.defineProperty(tools, "echo", { value: 1 }), Reflect.deleteProperty(tools, "echo"),
  Reflect.setPrototypeOf(tools, {}), Reflect.preventExtensions(tools), Reflect.deleteProperty(globalThis, "tools"),
];
let name;
try { Object.freeze(tools); } catch (error) { name = error.name; }
return [...tried, name, typeof tools.echo, await tools.echo({ x: 1 })];
