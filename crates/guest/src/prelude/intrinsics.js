// What the native side needs of the language, taken before any guest code runs and kept where none can reach it.
(function () {
  'use strict';
  const getter = (of, name) => Object.getOwnPropertyDescriptor(of, name).get;
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  const prototypes = [
    Object, Array, Function, Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError,
    URIError, Date, RegExp, Map, Set, WeakMap, WeakSet, WeakRef, Promise, ArrayBuffer, DataView, TypedArray,
    Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float16Array,
    Float32Array, Float64Array, BigInt64Array, BigUint64Array, Number, String, Boolean, Symbol, BigInt, Iterator,
    DOMException,
  ].map((constructor) => constructor.prototype);
  let resolver;
  new Promise((resolve) => { resolver = resolve; });
  return {
    __proto__: null,
    stackOf: getter(Error.prototype, 'stack'),
    dateTime: Date.prototype.getTime,
    dateIso: Date.prototype.toISOString,
    mapEntries: Map.prototype.entries,
    mapNext: Object.getPrototypeOf(new Map().entries()).next,
    mapSize: getter(Map.prototype, 'size'),
    setValues: Set.prototype.values,
    setNext: Object.getPrototypeOf(new Set().values()).next,
    setSize: getter(Set.prototype, 'size'),
    regexpSource: getter(RegExp.prototype, 'source'),
    regexpFlags: [
      ['d', 'hasIndices'], ['g', 'global'], ['i', 'ignoreCase'], ['m', 'multiline'], ['s', 'dotAll'],
      ['u', 'unicode'], ['v', 'unicodeSets'], ['y', 'sticky'],
    ].map(([flag, name]) => ({ flag, get: getter(RegExp.prototype, name) })),
    unbox: [Number, String, Boolean, BigInt].map((constructor) => constructor.prototype.valueOf),
    viewBuffer: getter(DataView.prototype, 'buffer'),
    viewOffset: getter(DataView.prototype, 'byteOffset'),
    viewLength: getter(DataView.prototype, 'byteLength'),
    typedLength: getter(TypedArray.prototype, 'length'),
    mapSet: Map.prototype.set,
    setAdd: Set.prototype.add,
    BigInt, DataView, Date, Map, Object, RegExp, Set,
    errors: {
      __proto__: null,
      Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
    },
    prototypes,
    samples: {
      __proto__: null,
      plain: {},
      boxes: [Object(0), Object(''), Object(true), Object(0n)],
      symbol: Object(Symbol.iterator),
      resolver,
      exception: new DOMException('', 'Error'),
    },
  };
})();
