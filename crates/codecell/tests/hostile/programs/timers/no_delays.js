//! attacks = delays that cannot be numbers
//! expect.value = ["TypeError","TypeError","mine"]
return [Symbol("s"), 5n, { valueOf() { throw Object.assign(new Error(), { name: "mine" }); } }].map((delay) => {
  try { return typeof setTimeout(() => {}, delay); } catch (error) { return error.name; }
});
