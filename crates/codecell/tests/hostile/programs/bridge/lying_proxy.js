//! attacks = a proxy whose keys and members do not agree
//! expect.value = {"there":1}
const lying = new Proxy({}, {
  ownKeys: () => ["there", "gone", "there_not"],
  getOwnPropertyDescriptor: (_, key) => (key === "gone" ? undefined : { value: 0, enumerable: key !== "there_not", configurable: true }),
  get: (_, key) => (key === "there" ? 1 : undefined),
});
return await tools.echo({ x: lying });
