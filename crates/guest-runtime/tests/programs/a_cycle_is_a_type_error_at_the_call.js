//! expect.value = ["TypeError","the value contains itself at `$.list[1].self` and has no JSON form"]
//! expect.calls = []
const a = { list: [0, {}] };
a.list[1].self = a;
try {
  await tools.callValue("openclaw:core:echo", a);
} catch (error) {
  return [error.name, error.message];
}
