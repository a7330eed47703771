//! expect.value = {"same":false,"cycle":true,"shared":true,"map":[["k",[1]]],"set":[1],"date":"1970-01-01T00:00:00.000Z","regexp":"/a/gi","error":{"name":"RangeError","message":"m"},"isError":true,"bytes":{"$bytes":"AQI="},"floats":[1.5],"big":5,"sparse":[3,false],"refused":["DataCloneError","DataCloneError"]}
const part = [1];
const value = {
  map: new Map([["k", part]]), part, set: new Set([1]), date: new Date(0), regexp: /a/gi, error: new RangeError("m"),
  bytes: new Uint8Array([1, 2]), floats: new Float64Array([1.5]), big: 5n, sparse: [, , 1],
};
value.self = value;
const copy = structuredClone(value);
const attempt = (work) => { try { work(); return "none"; } catch (error) { return error.name; } };
return {
  same: copy === value, cycle: copy.self === copy, shared: copy.map.get("k") === copy.part, map: copy.map, set: copy.set,
  date: copy.date, regexp: copy.regexp, error: copy.error, isError: copy.error instanceof RangeError,
  bytes: copy.bytes, floats: copy.floats, big: copy.big, sparse: [copy.sparse.length, 0 in copy.sparse],
  refused: [attempt(() => structuredClone(() => 1)), attempt(() => structuredClone({ s: Symbol() }))],
};
