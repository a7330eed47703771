//! attacks = encoders and their like, given what they do not expect
//! expect.value = ["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","RangeError","TypeError"]
const gone = new Uint8Array(8);
gone.buffer.transfer();
const far = new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 }), 4);
far.buffer.resize(2);
const tries = [
  () => new TextDecoder().decode("text"), () => new TextDecoder().decode({ byteLength: 2 ** 40 }), () => TextDecoder.prototype.decode.call({}, gone),
  () => new TextEncoder().encodeInto("x", [1]), () => crypto.getRandomValues([1]), () => crypto.getRandomValues({ buffer: gone }), () => crypto.getRandomValues(new Float64Array(1)),
  () => crypto.getRandomValues(new Uint8Array(1 << 17)), () => new TextEncoder().encode(Symbol()),
];
[() => new TextDecoder().decode(gone), () => new TextDecoder().decode(far), () => new TextEncoder().encodeInto("x", gone), () => crypto.getRandomValues(gone)]
  .forEach((one) => { try { one(); } catch {} });
return tries.map((one) => { try { return typeof one(); } catch (error) { return error.name; } });
