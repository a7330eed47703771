//! expect.fault = output
//! expect.output = [{"overflow":0,"more":262941}]
const keys = Array.from({ length: 20000 }, (_, i) => `k${i}`);
return new Proxy({}, {
  ownKeys: () => keys,
  getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  get: (_, key) => (key === "toJSON" ? undefined : { key, text: "x".repeat(1000) }),
});
