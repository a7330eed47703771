//! attacks = a toJSON that gives other things
//! expect.value = [null,{},null,{"mine":true},"b"]
const self = { toJSON() { return self; } };
const values = [{ toJSON: () => () => 1 }, self, { toJSON: () => undefined }, { toJSON: () => ({ mine: true, toJSON: () => "not asked" }) }, { toJSON: (key) => (key === "4" ? "b" : key) }];
return await tools.echo({ x: values });
