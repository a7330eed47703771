//! attacks = a proxy that is revoked before and while it is written
//! expect.value = ["TypeError","TypeError"]
//! expect.started = 0
const before = Proxy.revocable({}, {});
before.revoke();
const during = Proxy.revocable({}, { ownKeys() { during.revoke(); return ["a"]; } });
const name = (value) => tools.echo({ x: value }).then(() => "called", (error) => error.name);
return [await name(before.proxy), await name(during.proxy)];
