//! attacks = calls that nobody awaits, half of them at once and half in a chain
//! expect.value = "done"
//! expect.started = 200
for (let i = 0; i < 100; i++) tools.bump({ key: "a" }).then(() => tools.bump({ key: "b" }));
return "done";
