//! attacks = sizes that no memory has, all of them refused before anything is taken
//! expect.value = ["RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","still here"]
const asks = [
  () => new ArrayBuffer(2 ** 53 - 1),
  () => new Array(2 ** 32),
  () => "x".repeat(2 ** 40),
  () => "x".padEnd(2 ** 31),
  () => new Uint8Array(2 ** 52),
  () => 2n ** (2n ** 60n),
];
const names = asks.map((ask) => { try { return typeof ask(); } catch (error) { return error.name; } });
return [...names, "still here"];
