//! expect.error = TypeError: a promise cannot be passed on, await it first: `$.later` @2:62
await tools.callValue("openclaw:core:echo", { later: Promise.resolve(1) });
