//! expect.value = ["RangeError","the arguments are at least 9000002 bytes of JSON, more than the limit of 8388608"]
//! expect.calls = []
try {
  await tools.callValue("openclaw:core:echo", "x".repeat(9000000));
} catch (error) {
  return [error.name, error.message];
}
