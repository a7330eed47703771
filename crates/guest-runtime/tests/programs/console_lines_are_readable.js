//! expect.value = null
//! expect.output = ["hello 1 true null undefined 5n","{ a: [1, \"x\"], \"b c\": Map(1) {\"k\" => Set(1) {2}}, f: [Function: f], d: 1970-01-01T00:00:00.000Z }","TypeError: bad\n    at <anonymous> (cell:5:19)","once: { self: [Circular] }"]
console.log("hello", 1, true, null, undefined, 5n);
console.info({ a: [1, "x"], "b c": new Map([["k", new Set([2])]]), f() {}, d: new Date(0) });
console.error(new TypeError("bad"));
const self = {}; self.self = self;
console.warn("once:", self);
