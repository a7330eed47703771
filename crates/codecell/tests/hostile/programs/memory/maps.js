//! attacks = a map from objects to maps
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
const all = new Map();
for (;;) all.set({}, new Map([[{}, all]]));
