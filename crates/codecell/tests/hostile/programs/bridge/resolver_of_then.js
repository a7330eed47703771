//! attacks = what a tool-like object named then is given
//! expect.value = "TypeError"
//! expect.started = 0
let given;
const thenable = { then(resolve) { given = resolve; resolve(tools); } };
const back = await thenable;
given(MCP);
try { return await back.callValue(5); } catch (error) { return error.name; }
