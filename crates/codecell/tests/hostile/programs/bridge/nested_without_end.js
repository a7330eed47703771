//! attacks = a getter that always has another level
//! expect.value = "RangeError"
//! expect.started = 0
const level = () => ({ get next() { return level(); } });
try { return await tools.echo({ x: level() }); } catch (error) { return error.name; }
