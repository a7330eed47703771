//! expect.value = [5000,"RangeError","the value is nested more than 100 levels deep"]
let value = await tools.callValue("openclaw:core:deep", null), depth = 0;
const whole = value;
for (; value; value = value[0]) depth++;
try {
  await tools.callValue("openclaw:core:echo", whole);
} catch (error) {
  return [depth, error.name, error.message];
}
