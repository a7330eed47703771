//! attacks = an array that grows while it is written; its length is asked once
//! expect.value = 1
//! expect.started = 1
const list = [{ get a() { list.push({ get b() { list.push(list[0]); return "x".repeat(1000); } }, list[0]); return 1; } }];
try { return (await tools.echo({ x: list })).length; } catch (error) { return error.name; }
