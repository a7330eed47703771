//! attacks = a call that is made while the argument of another is written
//! expect.value = ["inner",["outer"]]
//! expect.started = 2
let inner;
const outer = await tools.echo({ x: [{ toJSON() { inner = tools.echo({ x: "inner" }); return "outer"; } }] });
return [await inner, outer];
