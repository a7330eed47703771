//! attacks = calls that the program tries to settle itself, twice
//! expect.value = ["slow","echo"]
//! expect.started = 2
const slow = tools.slow({ ms: 1, v: "slow" });
for (let id = -10; id < 100; id++) clearTimeout(id);
for (const key of ["resolve", "reject", "then", "status"]) try { slow[key] = () => "forged"; } catch {}
delete slow.then;
return [await slow, await tools.echo({ x: "echo" })];
