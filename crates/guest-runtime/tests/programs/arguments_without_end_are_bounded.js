//! expect.value = ["at least 8388610","at least 13981016","at least 9437185"]
//! expect.calls = []
const sparse = [];
sparse.length = 4294967295;
const sizes = [];
for (const value of [sparse, new Uint8Array(10 << 20), { ["k".repeat(9 << 20)]: 1 }])
  await tools
    .callValue("openclaw:core:echo", value)
    .catch((error) => sizes.push(error.message.match(/at least \d+/)[0]));
return sizes;
