//! attacks = callables that are not functions of the program
//! expect.value = ["ok","TypeError","TypeError"]
//! expect.output = ["from a proxy"]
setTimeout(new Proxy(() => text("from a proxy"), {}), 0);
queueMicrotask(new Proxy(() => {}, {}));
await new Promise((resolve) => setTimeout(resolve, 1));
const { proxy, revoke } = Proxy.revocable(() => {}, {});
revoke();
return ["ok", ...[() => queueMicrotask({}), () => setTimeout({ call() {} })].map((one) => { try { return one(); } catch (error) { return error.name; } })];
