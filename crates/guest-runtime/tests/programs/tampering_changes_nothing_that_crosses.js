//! expect.value = {"sent":{"a":[1,{"b":"c"}],"d":"1970-01-01T00:00:00.000Z"},"map":[["k","v"]],"tree":true,"server":"GitHub!"}
//! expect.output = ["t",{"json":[1,2]}]
const map = new Map([["k", "v"]]);
JSON.stringify = JSON.parse = () => "forged";
Object.prototype.toJSON = Array.prototype.toJSON = Date.prototype.toJSON = Map.prototype.toJSON = () => "forged";
Date.prototype.toISOString = String.prototype.concat = () => "forged";
Array.prototype.push = Array.prototype.map = () => { throw 1; };
Array.prototype[Symbol.iterator] = Map.prototype.entries = Map.prototype.forEach = function* () { yield 66; };
Object.getPrototypeOf(new Map().entries()).next = () => ({ done: true });
Function.prototype.call = Function.prototype.apply = Reflect.apply = () => { throw 2; };
Promise.prototype.then = Promise.prototype.catch = function () { throw 3; };
Promise.resolve = Promise.reject = () => { throw 4; };
Object.keys = Object.defineProperty = Object.freeze = () => { throw 5; };
const names = ["op", "query", "limit", "get", "ok", "error", "id", "code", "details", "unready", "resources", "call", "array"];
// By index: the iterator above answers with something else.
for (let i = 0, key; (key = names[i]); i++) {
  Object.prototype.__defineGetter__(key, () => { throw 6; });
  Object.prototype.__defineSetter__(key, () => { throw 7; });
}
Array.prototype.__defineSetter__(0, () => { throw 8; });
globalThis.Proxy = globalThis.Promise = globalThis.Map = globalThis.Error = undefined;
text("t");
json([1, 2]);
const sent = await tools.echo({ a: [1, { b: "c" }], d: new Date(0) });
return { sent, map, tree: Issues.list[0] !== undefined, server: MCP.github.$serverName };
