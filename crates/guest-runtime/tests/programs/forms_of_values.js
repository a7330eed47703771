//! expect.value = {"nan":null,"inf":[null,null],"zero":0,"big":123456789012345678901234567890,"date":"2020-01-02T03:04:05.678Z","never":null,"map":[["a",1],[{"k":1},[2]]],"set":[1,"x"],"regexp":"/a\\/b/gi","error":{"name":"TypeError","message":"m"},"bytes":{"$bytes":"AQID"},"buffer":{"$bytes":"AAA="},"view":{"$bytes":"AgM="},"floats":[1.5,null],"wide":[9007199254740993],"boxed":[1,"s",true,5],"array":[null,null,1],"promise":"[Promise]","weak":{},"proto":{"__proto__":{"x":1}},"surrogate":"�","nul":"\u0000","own":{"json":"mine"},"cls":"class form"}
class Money { toJSON() { return "class form"; } }
return {
  undef: undefined, fn() {}, sym: Symbol("s"),
  nan: NaN, inf: [Infinity, -Infinity], zero: -0, big: 123456789012345678901234567890n,
  date: new Date(Date.UTC(2020, 0, 2, 3, 4, 5, 678)), never: new Date(NaN),
  map: new Map([["a", 1], [{ k: 1 }, [2]]]), set: new Set([1, "x"]), regexp: /a\/b/gi, error: new TypeError("m"),
  bytes: new Uint8Array([1, 2, 3]), buffer: new ArrayBuffer(2), view: new DataView(new Uint8Array([1, 2, 3]).buffer, 1),
  floats: new Float32Array([1.5, NaN]), wide: new BigInt64Array([9007199254740993n]),
  boxed: [Object(1), Object("s"), Object(true), Object(5n)], array: [undefined, () => 1, 1],
  promise: Promise.resolve(1), weak: new WeakMap(), proto: JSON.parse('{"__proto__":{"x":1}}'),
  surrogate: "\ud800", nul: "\0", own: { toJSON: () => ({ json: "mine" }) }, cls: new Money(),
};
