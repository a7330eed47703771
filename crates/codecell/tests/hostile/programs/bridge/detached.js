//! attacks = buffers that are gone, as arguments
//! expect.value = "TypeError"
//! expect.started = 0
const bytes = new Uint8Array(4), floats = new Float64Array(4);
bytes.buffer.transfer();
floats.buffer.transfer();
try { return await tools.echo({ x: [bytes, floats] }); } catch (error) { return error.name; }
