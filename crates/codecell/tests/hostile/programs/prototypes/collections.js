//! attacks = what maps, sets, dates and expressions say of themselves
//! expect.value = {"map":[["k",1]],"set":[1],"date":"1970-01-01T00:00:00.000Z","regexp":"/a/g","bytes":{"$bytes":"AQI="},"big":10,"boxed":5,"floats":[1.5]}
const value = { map: new Map([["k", 1]]), set: new Set([1]), date: new Date(0), regexp: /a/g, bytes: new Uint8Array([1, 2]), big: 10n,
  boxed: Object(5), floats: new Float32Array([1.5]) };
const prototypes = [Map, Set, Date, RegExp, Uint8Array, BigInt, Number, Float32Array, Object.getPrototypeOf(Uint8Array), ArrayBuffer, DataView, Symbol]
  .map((one) => one.prototype).concat(Object.getPrototypeOf(new Map().entries()), Object.getPrototypeOf(new Set().values()));
for (const of of prototypes) {
  for (const key of Reflect.ownKeys(of)) {
    if (key === "constructor") continue;
    try { Object.defineProperty(of, key, { configurable: true, get() { throw new Error("forged"); } }); } catch {}
  }
}
return value;
