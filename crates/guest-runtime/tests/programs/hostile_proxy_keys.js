//! expect.fault = memory
return new Proxy({}, { ownKeys: () => Array.from({ length: 1e7 }, (_, i) => "k" + i) });
