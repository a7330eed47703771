//! expect.error = Error: it broke @3:45
const input = {};
await tools.callValue("openclaw:core:fail", input);
