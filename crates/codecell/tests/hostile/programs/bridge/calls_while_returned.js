//! attacks = calls that are made while the result is written
//! expect.value = {"a":"[Promise]","b":2}
//! expect.started = 2
return { get a() { return tools.bump({ key: "a" }); }, get b() { tools.bump({ key: "b" }); return 2; } };
