//! attacks = recursion in the middle of a call
//! expect.value = "TypeError"
//! expect.started = 0
const loop = { toJSON() { const call = tools.echo({ x: loop }); call.catch(() => {}); return call; } };
try { return await tools.echo({ x: loop }); } catch (error) { return error.name; }
