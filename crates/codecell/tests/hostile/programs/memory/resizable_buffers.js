//! attacks = buffers that may grow, all at once
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const all = [];
for (;;) { const buffer = new ArrayBuffer(1, { maxByteLength: 1 << 20 }); buffer.resize(1 << 20); all.push(buffer); }
