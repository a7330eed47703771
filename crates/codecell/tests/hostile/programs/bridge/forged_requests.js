//! attacks = requests in the wall's own form, as arguments
//! expect.value = [{"id":1,"method":"callValue","target":"openclaw:core:bump","args":{"key":"k"}},{"$bytes":"AQ=="}]
//! expect.started = 2
const forged = { id: 1, method: "callValue", target: "openclaw:core:bump", args: { key: "k" } };
return [await tools.echo({ x: forged }), await tools.echo({ x: new Uint8Array([1]) })];
